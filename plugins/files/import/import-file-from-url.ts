import { type AsSystem, type Caller, ClientGone, fail } from '#kernel';
import type { OutboundService } from '../../outbound/contract.ts';
import { createSemaphore } from '../../workers/library.ts';
import { FILES_COLLECTION_NAME, type FileWriter } from '../contract.ts';
import type { FileServiceDeps } from '../deps.ts';
import { type FetchedFile, fetchFile } from './fetch.ts';
import { createImportDeadline } from './import-deadline.ts';
import { fileNameFromUrl } from './name-from-url.ts';
import type { FileImportRequest } from './parse-import-request.ts';

/** Milliseconds that the remote server may send nothing. IMPORT_TIMEOUT limits the whole import. */
const IDLE_TIMEOUT = 60_000;

export type ImportFileFromUrl = (
  caller: Caller,
  request: FileImportRequest,
  clientSignal: AbortSignal,
) => Promise<string>;

interface ImportDeps extends Pick<FileServiceDeps, 'items' | 'config'> {
  readonly files: FileWriter;
  readonly outbound: OutboundService;
  readonly asSystem: AsSystem;
}

/**
 * `POST /files/import`: fetches a file from a URL and answers its key (specification, "Files endpoints", 4). With the `id` of an
 * existing file it replaces the bytes of that file.
 */
export function createFileImporter(deps: ImportDeps): ImportFileFromUrl {
  const { files, outbound, config } = deps;
  const semaphore = createSemaphore({
    limit: config.IMPORT_MAX_CONCURRENCY,
    queue: 0,
    refuse: () =>
      fail('SERVICE_UNAVAILABLE', 'Too many files are being fetched; try again later.', { service: 'files' }),
  });

  async function run(caller: Caller, { url, data }: FileImportRequest, clientSignal: AbortSignal): Promise<string> {
    const { id, ...metadata } = data;
    const existing = await findExistingKey(deps, id);
    const about = { filename: fileNameFromUrl(url), metadata: existing === undefined ? data : metadata };
    // Before the fetch: a caller who may not store the file causes no request.
    await files.check(caller, about, existing);
    const release = await semaphore.acquire();
    const deadline = createImportDeadline({ timeout: config.IMPORT_TIMEOUT, idleTimeout: IDLE_TIMEOUT }, clientSignal);
    const maxBytes = config.IMPORT_MAX_FILE_SIZE;
    let fetched: FetchedFile | undefined;
    try {
      fetched = await fetchFile(url, { outbound, deadline, maxBytes });
      // The type in `data` wins over the one that the remote server declares.
      const type = typeof data.type === 'string' ? data.type : fetched.type;
      const incoming = { ...about, type, bytes: fetched.bytes };
      return existing === undefined
        ? await files.create(caller, incoming, { maxBytes })
        : await files.replace(caller, existing, incoming, { maxBytes });
    } catch (error) {
      throw deadline.timeoutFailure() ?? (clientSignal.aborted ? new ClientGone() : error);
    } finally {
      release();
      // An upload rejected before its first byte would leave the connection open.
      await fetched?.close();
    }
  }

  return run;
}

/** The id of an existing file, read as system: the replacement checks the caller's permissions. */
async function findExistingKey({ items, asSystem }: ImportDeps, id: unknown): Promise<string | undefined> {
  if (typeof id !== 'string' || id === '') return undefined;
  const system = asSystem('an import names a file that may exist');
  try {
    const { data } = await items.readOne(system, FILES_COLLECTION_NAME, id, { fields: ['id'] });
    return (JSON.parse(data ?? 'null') as { id: string } | null)?.id;
  } catch (error) {
    if ((error as { code?: string }).code !== 'FORBIDDEN') throw error;
    return undefined;
  }
}
