import type { Caller } from '#kernel';
import type { FileStorageService } from '../../files/contract.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import { EXPORT_FORMATS, exportFileName } from '../../items/library.ts';
import type { RawQuery } from '../../query/contract.ts';
import type { ExportRequest } from '../contract.ts';

interface Deps {
  readonly items: Pick<ItemsEngine, 'export' | 'readMany'>;
  readonly files: Pick<FileStorageService, 'create'>;
}

/** One export to write. */
export interface ExportFileOptions {
  readonly collection: string;
  readonly request: ExportRequest;
  /** The key of the new file. */
  readonly id: string;
  readonly signal?: AbortSignal;
  progress?(share: number, text: string): void;
  /** Runs in the unit of work that creates the row of the file. */
  readonly onCreated?: (id: string) => Promise<void>;
}

/** Creates the function that reads rows through a cursor and stores them as a file while they are read. */
export const createExportFileWriter =
  ({ items, files }: Deps) =>
  async (
    caller: Caller,
    { collection, request, id, signal, progress, onCreated }: ExportFileOptions,
  ): Promise<void> => {
    const { query, format, file = {} } = request;
    const total = progress && (await countRows(items, caller, collection, query));
    const onRows = (rows: number) => {
      if (total === undefined) progress?.(0, `${rows} rows`);
      else progress?.(rows / Math.max(1, total), `${rows} of ${total} rows`);
    };
    // The cursor is opened when the storage takes the first bytes, so that no refused file leaves it open.
    async function* readBytes(): AsyncGenerator<Uint8Array, void, undefined> {
      const { parts } = await items.export(caller, collection, format, query, { unlimited: true, onRows });
      for await (const part of parts) {
        signal?.throwIfAborted();
        yield Buffer.from(part);
      }
    }
    const { type } = EXPORT_FORMATS[format];
    const incoming = { bytes: readBytes(), filename: exportFileName(collection, format), type, metadata: file };
    await files.create(caller, incoming, { id, ...(onCreated ? { onCreated } : {}) });
  };

/** How many rows the export will have; undefined for groups, and where they cannot be counted. */
async function countRows(
  items: Pick<ItemsEngine, 'readMany'>,
  caller: Caller,
  collection: string,
  { filter, search, limit, aggregate, groupBy }: RawQuery,
): Promise<number | undefined> {
  if (aggregate !== undefined || groupBy !== undefined) return undefined;
  const query: RawQuery = { filter, search, limit: 0, meta: 'filter_count' };
  const { meta } = await items.readMany(caller, collection, query);
  const { filter_count: count } = JSON.parse(meta ?? '{}') as { filter_count?: number };
  return typeof limit === 'number' && limit >= 0 && count !== undefined ? Math.min(limit, count) : count;
}
