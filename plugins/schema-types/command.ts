import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { Failure, type KernelCommand } from '#kernel';
import type { SystemCollection } from '../schema/contract.ts';
import { parseSnapshot } from '../schema-snapshots/library.ts';
import { typedSchemaOfSnapshot } from './model/from-snapshot.ts';
import { renderTypes } from './render/render-types.ts';

const NAME = 'types';
const USAGE = '(--url <address> [--token <token>] | --snapshot <file>) [--out <file>] [--force]';

/** Milliseconds for the answer of a service. */
const TIMEOUT = 60_000;

/** Arguments that make no sense: the command ends with 2. */
class UsageError extends Error {}

interface TypesOptions {
  readonly url?: string;
  readonly token?: string;
  readonly snapshot?: string;
  readonly out?: string;
  readonly force?: boolean;
}

/** `types`: prints the types of a running service, or of a snapshot; neither starts this service. */
export const createTypesCommand = (declared: () => readonly SystemCollection[]): KernelCommand => ({
  name: NAME,
  about: `prints the types of the collections for the client library: ${NAME} ${USAGE}`,
  async run(args) {
    try {
      const options = parseOptions(args);
      const text = options.url === undefined ? await typesOfFile(options, declared()) : await typesOfService(options);
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
    const options = { url: text, token: text, snapshot: text, out: text, force: { type: 'boolean' } } as const;
    values = parseArgs({ args: [...args], options, strict: true }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  if ((values.url === undefined) === (values.snapshot === undefined))
    throw new UsageError('Name a service by --url, or a snapshot by --snapshot.');
  if (values.token !== undefined && values.url === undefined) throw new UsageError('--token belongs to --url.');
  return values;
}

async function typesOfFile({ snapshot = '', force = false }: TypesOptions, declared: readonly SystemCollection[]) {
  const document: unknown = parse(await readFile(snapshot, 'utf8'), { schema: 'core', maxAliasCount: 100 });
  return renderTypes(typedSchemaOfSnapshot(parseSnapshot(document, { force }), declared));
}

async function typesOfService({ url = '', token }: TypesOptions): Promise<string> {
  const address = `${url.replace(/\/+$/, '')}/server/specs/types`;
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const reply = await fetch(address, { headers, signal: AbortSignal.timeout(TIMEOUT) });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${address} answered ${reply.status}: ${text.slice(0, 300)}`);
  return text;
}
