import type { Failure } from '#kernel';
import type { Payload } from './contract.ts';

/** Options of an export. */
export interface ExportOptions {
  /** Only the rows of these keys, in their order. */
  readonly keys?: readonly unknown[];
  /** Neither QUERY_LIMIT_DEFAULT nor QUERY_LIMIT_MAX applies to the list itself; QUERY_LIMIT_MAX applies to nested lists. */
  readonly unlimited?: boolean;
  /** Called with the number of rows that are rendered so far. */
  readonly onRows?: (rows: number) => void;
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
