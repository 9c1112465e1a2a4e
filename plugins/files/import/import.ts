import { type Caller, ClientGone, fail } from '#kernel';
import { createSemaphore } from '../../workers/library.ts';
import { FILES, type Files } from '../contract.ts';
import type { RouteDeps } from '../deps.ts';
import { type Fetched, fetchFrom } from './fetch.ts';
import { nameAt } from './name.ts';
import { createPatience } from './patience.ts';
import type { ImportRequest } from './request.ts';

/** Milliseconds the other side may say nothing, IMPORT_TIMEOUT being how long it may take altogether. */
const STALL = 60_000;

export type ImportFile = (caller: Caller, request: ImportRequest, wanted: AbortSignal) => Promise<string>;

type ImportDeps = Pick<RouteDeps, 'files' | 'items' | 'outbound' | 'asSystem' | 'config'>;

/**
 * `POST /files/import`: fetches a file from elsewhere and answers its key (specification, "Files endpoints", 4). With the `id` of a
 * file that is there its bytes are replaced.
 */
export function importOf(deps: ImportDeps): ImportFile {
  const known = imports.get(deps.files) ?? createImport(deps);
  imports.set(deps.files, known);
  return known;
}

/** One for routes and fields alike: they share what may run at a time. */
const imports = new WeakMap<Files, ImportFile>();

function createImport(deps: ImportDeps): ImportFile {
  const { files, outbound, config } = deps;
  const places = createSemaphore({
    limit: config.IMPORT_MAX_CONCURRENCY,
    queue: 0,
    refuse: () =>
      fail('SERVICE_UNAVAILABLE', 'Too many files are being fetched; try again later.', { service: 'files' }),
  });

  async function run(caller: Caller, { url, data }: ImportRequest, wanted: AbortSignal): Promise<string> {
    const { id, ...metadata } = data;
    const existing = await existingKey(deps, id);
    const about = { filename: nameAt(url), metadata: existing === undefined ? data : metadata };
    // Nothing is fetched for somebody who could not keep it.
    await files.check(caller, about, existing);
    const release = await places.acquire();
    const patience = createPatience({ timeout: config.IMPORT_TIMEOUT, stall: STALL }, wanted);
    const maxBytes = config.IMPORT_MAX_FILE_SIZE;
    let fetched: Fetched | undefined;
    try {
      fetched = await fetchFrom(url, { outbound, patience, maxBytes });
      // Who imports a file may know better than whoever serves it.
      const type = typeof data.type === 'string' ? data.type : fetched.type;
      const incoming = { ...about, type, bytes: fetched.bytes };
      return existing === undefined
        ? await files.create(caller, incoming, { maxBytes })
        : await files.replace(caller, existing, incoming, { maxBytes });
    } catch (error) {
      throw patience.over() ?? (wanted.aborted ? new ClientGone() : error);
    } finally {
      release();
      // What is refused before its first byte is read would hold the connection.
      await fetched?.leave();
    }
  }

  return run;
}

/** Whether there is such a file, the caller's permissions aside: they are asked about what is then done. */
async function existingKey({ items, asSystem }: ImportDeps, id: unknown): Promise<string | undefined> {
  if (typeof id !== 'string' || id === '') return undefined;
  const system = asSystem('an import names a file that may be there already');
  try {
    const { data } = await items.readOne(system, FILES, id, { fields: ['id'] });
    return (JSON.parse(data ?? 'null') as { id: string } | null)?.id;
  } catch (error) {
    if ((error as { code?: string }).code !== 'FORBIDDEN') throw error;
    return undefined;
  }
}
