import { readFile, writeFile } from 'node:fs/promises';
import { parseDocument } from '../read-document.ts';

/** What a command reports as the reason of its end with 1. */
export class CommandError extends Error {}

const formatOf = (file: string): 'json' | 'yaml' => (/\.json$/i.test(file) ? 'json' : 'yaml');

/** Reads a document of JSON or YAML by the ending of its file's name; JSON is also YAML. @throws CommandError, INVALID_PAYLOAD */
export async function readDocumentFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError(`The file cannot be read: ${error.message}`);
  });
  return parseDocument(text, formatOf(file));
}

/** Writes a document; without a file to standard output. @throws CommandError where the file exists and may not be replaced */
export async function writeDocumentFile(file: string | undefined, text: string, mayReplace: boolean): Promise<void> {
  if (file === undefined) return void process.stdout.write(text);
  await writeFile(file, text, { flag: mayReplace ? 'w' : 'wx' }).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EEXIST' ? 'it exists: --yes replaces it' : error.message;
    throw new CommandError(`The file ${file} cannot be written: ${reason}.`);
  });
}

/** The format of a document by option, else by the name of the file; YAML without both. */
export const chooseFormat = (format: 'json' | 'yaml' | undefined, file: string | undefined): 'json' | 'yaml' =>
  format ?? (file === undefined ? 'yaml' : formatOf(file));
