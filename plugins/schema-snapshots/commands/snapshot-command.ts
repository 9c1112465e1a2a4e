import { renderJson, renderYaml } from '../snapshot/render-document.ts';
import { parseArguments } from './command-arguments.ts';
import { EXIT, type SchemaCommandDeps } from './command-deps.ts';
import { chooseFormat, writeDocumentFile } from './document-files.ts';

/** `schema:snapshot`: the same document as `GET /schema/snapshot?export=…`. */
export async function runSnapshot({ state, system }: SchemaCommandDeps, args: readonly string[]): Promise<number> {
  const { file, parts = [], format, flags } = parseArguments(args, ['with', 'format', 'yes']);
  const document = await state.read(system(), parts);
  const text = chooseFormat(format, file) === 'json' ? renderJson(document) : await renderYaml(document);
  await writeDocumentFile(file, text, flags.has('yes'));
  return EXIT.done;
}
