import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { registerServiceImportResolver } from './resolve-sources.ts';

/**
 * `npm run types`: one TypeScript file with the types of the collections, of a running service (`--url`, `--token`) or of a snapshot
 * (`--snapshot`), which the command `types` reads without a database.
 */
const USAGE = 'Usage: npm run types -- (--url <address> [--token <token>] | --snapshot <file>) [--out <file>]';

/** Milliseconds for the answer of a service. */
const TIMEOUT = 60_000;

interface ServiceOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly out: string | undefined;
}

/** The options for a running service; undefined for a snapshot. Ends the process with 2 for arguments that make no sense. */
function parseServiceOptions(): ServiceOptions | undefined {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({ options: { url: text, token: text, snapshot: text, out: text }, strict: true });
    const { url, token, snapshot, out } = values;
    if ((url === undefined) === (snapshot === undefined)) throw new Error('Name one of --url and --snapshot.');
    if (url === undefined && token !== undefined) throw new Error('--token belongs to --url.');
    return url === undefined ? undefined : { url, token, out };
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    process.exit(2);
  }
}

async function writeTypesOfService({ url, token, out }: ServiceOptions): Promise<void> {
  const address = `${url.replace(/\/+$/, '')}/server/specs/types`;
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const reply = await fetch(address, { headers, signal: AbortSignal.timeout(TIMEOUT) });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${address} answered ${reply.status}: ${text.slice(0, 300)}`);
  if (out === undefined) process.stdout.write(text);
  else await writeFile(out, text);
}

const options = parseServiceOptions();
if (options) {
  await writeTypesOfService(options).catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
} else {
  process.argv.splice(2, 0, 'types');
  registerServiceImportResolver();
  await import('./command-line.ts');
}
