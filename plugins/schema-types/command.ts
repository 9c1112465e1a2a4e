import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Failure, type KernelCommand } from '#kernel';
import type { SystemCollection } from '../schema/contract.ts';
import { typedSchemaOfSnapshot } from './model/from-snapshot.ts';
import { requireSnapshotDocument } from './model/snapshot-document.ts';
import { renderTypes } from './render/render-types.ts';

const NAME = 'types';
const USAGE = '--snapshot <file> [--out <file>]';

/** Arguments that make no sense: the command ends with 2. */
class UsageError extends Error {}

interface TypesOptions {
  readonly snapshot?: string;
  readonly out?: string;
}

/** `types`: prints the types of a snapshot. It neither starts the service nor needs a database. */
export const createTypesCommand = (declared: () => readonly SystemCollection[]): KernelCommand => ({
  name: NAME,
  about: `prints the types of the collections in a snapshot, for the client library: ${NAME} ${USAGE}`,
  async run(args) {
    try {
      const options = parseOptions(args);
      const text = await typesOfFile(options.snapshot ?? '', declared());
      if (options.out === undefined) process.stdout.write(text);
      else await writeFile(options.out, text);
      return 0;
    } catch (error) {
      const isUsage = error instanceof UsageError;
      const prefix = error instanceof Failure ? `${error.code}: ` : '';
      process.stderr.write(`${prefix}${(error as Error).message}\n${isUsage ? `Usage: ${NAME} ${USAGE}\n` : ''}`);
      return isUsage ? 2 : 1;
    }
  },
});

function parseOptions(args: readonly string[]): TypesOptions {
  const text = { type: 'string' } as const;
  let values: TypesOptions;
  try {
    values = parseArgs({ args: [...args], options: { snapshot: text, out: text }, strict: true }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  if (values.snapshot === undefined) throw new UsageError('--snapshot is missing.');
  return values;
}

async function typesOfFile(file: string, declared: readonly SystemCollection[]): Promise<string> {
  const { parse } = await import('yaml');
  const document: unknown = parse(await readFile(file, 'utf8'), { schema: 'core', maxAliasCount: 100 });
  return renderTypes(typedSchemaOfSnapshot(requireSnapshotDocument(document), declared));
}
