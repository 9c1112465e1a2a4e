import { type Caller, service } from '#kernel';
import type { ExportFormatName, Payload } from '../items/contract.ts';
import type { RawQuery } from '../query/contract.ts';

/** A file of rows. */
export interface ImportSource {
  /**
   * MIME type, which selects the parser: `text/csv` and `application/vnd.ms-excel`, or `application/json`. A `charset` counts
   * where the bytes have no byte-order mark; without both they are UTF-8.
   */
  readonly type: string | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** An export, as `POST /utils/export/<collection>` requests it. */
export interface ExportRequest {
  /** The rows and fields. `limit` is -1 or at least 0; without one all rows are exported, whatever QUERY_LIMIT_MAX is. */
  readonly query: RawQuery;
  readonly format: ExportFormatName;
  /** Values of the row of the new file, such as `folder` and `title`. */
  readonly file?: Payload;
}

/** Imports and exports of whole collections (specification, "Utility endpoints"), with the permissions of a caller. */
export interface ImportExportService {
  /**
   * Writes the rows of a file in one unit of work: rows whose key exists are updated, the others are created. Returns their
   * number. The bytes are stored in a temporary file first; memory stays flat whatever their size. Call it outside of a unit of
   * work. `signal` cancels the import before its commit begins.
   * @throws FORBIDDEN without permission to create and to update, and for a system collection where the caller is no admin;
   * UNSUPPORTED_MEDIA_TYPE, CONTENT_TOO_LARGE, OUT_OF_TIME, INVALID_PAYLOAD for a singleton, SERVICE_UNAVAILABLE where too many
   * imports run; Failures of all rejected rows, at most MAX_IMPORT_ERRORS, whose `extensions` have `row` (from 1) and, for CSV,
   * `line`. Nothing is written then.
   */
  importRows(
    caller: Caller,
    collection: string,
    source: ImportSource,
    options?: { readonly signal?: AbortSignal },
  ): Promise<number>;
  /**
   * Adds a job that exports rows into a new file of the caller, with the permissions that the caller has when the job runs. Returns
   * the id of the job, which will be the key of the file. The user of the caller is notified of the end. For a caller without a user,
   * other than the Public role, the export runs in this call in place of a job, and its errors are thrown.
   * @throws FORBIDDEN without permission to read the collection or to create files, and for a visitor of a share; INVALID_QUERY, INVALID_PAYLOAD, FAILED_VALIDATION, ROUTE_NOT_FOUND for admins where there is no such collection.
   */
  exportRows(caller: Caller, collection: string, request: ExportRequest): Promise<string>;
}

/** For routes, and for code that offers imports and exports in another form. */
export const importExport = service<ImportExportService>('import-export', {
  version: '1.0.0',
  callers: { importRows: 0, exportRows: 0 },
});
