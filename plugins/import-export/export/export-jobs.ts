import { randomUUID } from 'node:crypto';
import { type Caller, Failure, Failures, fail, type Log } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { FileStorageService } from '../../files/contract.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import { EXPORT_FORMATS, exportFileName } from '../../items/library.ts';
import type { JobQueue, QueueApi, QueuedJob } from '../../queue/contract.ts';
import { type JobCaller, PermanentJobError, toJobCaller } from '../../queue/library.ts';
import type { ExportRequest, ImportExportService } from '../contract.ts';
import type { ExportNotices } from './export-notices.ts';
import { toExportQuery } from './export-request.ts';
import { createExportFileWriter } from './write-export-file.ts';

export const EXPORTS_QUEUE = 'exports';
/** How many times an interrupted export begins again. */
const RETRIES = 5;

/** An export that waits for a process. Its id is the key of the file. */
interface WaitingExport {
  readonly collection: string;
  readonly request: ExportRequest;
  readonly caller: JobCaller;
}

interface Deps {
  readonly db: Pick<Db, 'query' | 'sql' | 'read'>;
  readonly items: Pick<ItemsEngine, 'checkQuery' | 'export' | 'readMany'>;
  readonly files: Pick<FileStorageService, 'check' | 'create'>;
  readonly findCaller: (stored: JobCaller) => Promise<Caller>;
  readonly notices: ExportNotices;
  readonly queue: Pick<QueueApi, 'define'>;
  /** Milliseconds that one run may take. */
  readonly timeout: number;
  readonly concurrency: number;
  readonly log: Log;
}

export interface ExportJobs {
  readonly exportRows: ImportExportService['exportRows'];
  stop(): Promise<void>;
}

/** Exports are jobs: a process that dies leaves them to another one, and a run that is repeated finds the file of the first. */
export function createExportJobs(deps: Deps): ExportJobs {
  const { db, items, files, findCaller, notices, log } = deps;
  const STORED = db.sql`select 1 from ${db.read('platform_files')} where id = $1`;
  const isStored = async (id: string) => (await db.query(STORED, [id])).count > 0;
  const writeFile = createExportFileWriter({ items, files });

  const jobs: JobQueue<WaitingExport> = deps.queue.define<WaitingExport>({
    name: EXPORTS_QUEUE,
    retries: RETRIES,
    timeout: Math.ceil(deps.timeout / 1000),
    concurrency: deps.concurrency,
    log,
    run,
  });

  async function run(job: QueuedJob<WaitingExport>): Promise<unknown> {
    const { id, data, attempt } = job;
    if (attempt > 1 && (await isStored(id))) return { file: id };
    try {
      await runOnce(job);
    } catch (error) {
      // Another process ran the job at the same time, because this one stood still.
      if (await isStored(id)) return { file: id };
      const isFinal = isPermanent(error);
      if (isFinal || attempt > RETRIES) await notices.failed(data.caller.user, data.collection, reasonOf(error));
      throw isFinal ? new PermanentJobError(reasonOf(error)) : error;
    }
    return { file: id };
  }

  async function runOnce({ id, data, signal, progress }: QueuedJob<WaitingExport>): Promise<void> {
    const { collection, request } = data;
    await writeFile(await findCaller(data.caller), {
      collection,
      request,
      id,
      signal,
      progress,
      onCreated: (file) => notices.done(data.caller.user, collection, file),
    });
  }

  return {
    async exportRows(caller, collection, { format, query: requested, file }) {
      if (caller.share) throw fail('FORBIDDEN', 'visitors of a share only read');
      const stored = toJobCaller(caller);
      const query = toExportQuery(requested);
      await items.checkQuery(caller, collection, query, { unlimited: true });
      const filename = exportFileName(collection, format);
      await files.check(caller, { filename, type: EXPORT_FORMATS[format].type, metadata: file ?? {} });
      const request = { query, format, ...(file ? { file } : {}) };
      if (stored) return (await jobs.add({ collection, request, caller: stored })) as string;
      const id = randomUUID();
      await writeFile(caller, { collection, request, id });
      return id;
    },
    stop: () => jobs.stop(),
  };
}

/** Whether a retry would fail in the same way: permissions, query or values are wrong. */
function isPermanent(error: unknown): boolean {
  if (error instanceof PermanentJobError) return true;
  const failure = error instanceof Failures ? error.failures[0] : error;
  return failure instanceof Failure && failure.status < 500;
}

/** What the user may know of an error: details of unexpected ones are for the log. */
const reasonOf = (error: unknown): string =>
  error instanceof Failure || error instanceof Failures || error instanceof PermanentJobError
    ? error.message
    : 'An unexpected error occurred.';
