import type { Caller, Failure } from '#kernel';
import type { Payload } from './contract.ts';

/** Verbs that write rows of a file, which do not fit into memory at once. Part of `ItemsEngine`. */
export interface ItemImports {
  /**
   * Throws what `importRows` would throw before it reads a row.
   * @throws FORBIDDEN, INVALID_PAYLOAD for a singleton.
   */
  checkImport(caller: Caller, collection: string): Promise<void>;
  /**
   * Writes all rows or none, in one unit of work and batch by batch: rows whose key exists are updated, the others are
   * created (specification, "Utility endpoints"). Permission to create and to update is needed, and for a system
   * collection an admin. Returns the number of rows. A batch should hold at most some hundred rows, so that memory
   * stays flat. Where a row is rejected the rows are read again and written to find all errors, and rolled back; filters
   * are then called again.
   * @throws Failures of all rejected rows, at most `maxErrors`, with the `position` of each in `extensions`; FORBIDDEN,
   * INVALID_PAYLOAD for a singleton and for more rows than MAX_BATCH_MUTATION.
   */
  importRows(
    caller: Caller,
    collection: string,
    readBatches: ReadImportBatches,
    options?: ImportOptions,
  ): Promise<number>;
}

/** One row of an import: its payload, or the failure for which it cannot be read. */
export interface ImportRow {
  /** Where the row is: members of `extensions` of its errors. `row` counts from 1; `line` is the line of a text where it begins. */
  readonly position: { readonly row: number; readonly line?: number };
  readonly payload: Payload;
  readonly failure?: Failure;
}

/** Reads the rows of an import from the first one. Called again where the import is repeated, or its errors are looked for. */
export type ReadImportBatches = () => AsyncIterable<readonly ImportRow[]>;

/** Options of an import. */
export interface ImportOptions {
  /** Aborting it before the commit begins cancels the import, which fails with its reason; it applies in place of WRITE_TIMEOUT. */
  readonly signal?: AbortSignal;
  /** Errors that are reported at most. Default 1000. */
  readonly maxErrors?: number;
}
