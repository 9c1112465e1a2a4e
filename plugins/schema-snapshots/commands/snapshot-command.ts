import { renderJson, renderYaml } from '../snapshot/render-document.ts';
import type { ParsedArguments } from './command-arguments.ts';
import { EXIT, type SchemaCommandDeps } from './command-deps.ts';
import { chooseFormat, writeDocumentFile } from './document-files.ts';

/** `schema:snapshot`: the same document as `GET /schema/snapshot?export=…`. */
export async function runSnapshot(
  { state, system }: SchemaCommandDeps,
  { file, parts = [], format, flags }: ParsedArguments,
): Promise<number> {
  const document = await state.read(system(), parts);
  const text = chooseFormat(format, file) === 'json' ? renderJson(document) : await renderYaml(document);
  await writeDocumentFile(file, text, flags.has('yes'));
  return EXIT.done;
}
