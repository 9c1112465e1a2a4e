import { fail } from '#kernel';
import type { ExportColumn } from './columns.ts';
import { createCsvWriter } from './csv.ts';
import { createJsonWriter } from './json.ts';
import { createXmlWriter } from './xml.ts';
import { createYamlWriter } from './yaml.ts';

/** Renders a file from rows as JSON texts, batch by batch. */
export interface ExportWriter {
  /** Before the first row; unused where there is none. */
  readonly begin: string;
  /** `first`: only `begin` was written so far. */
  rows(batch: readonly string[], first: boolean): string;
  readonly end: string;
  /** The whole file where there is no row. */
  readonly empty: string;
}

export interface ExportFormat {
  readonly extension: string;
  readonly type: string;
  /** Loads the library of the format when it is first needed. */
  writer(columns: readonly ExportColumn[]): Promise<ExportWriter> | ExportWriter;
}

/** Formats of `export` (conventions, "`export` on reads"). */
export const EXPORT_FORMATS = {
  csv: { extension: 'csv', type: 'text/csv', writer: createCsvWriter },
  csv_utf8: { extension: 'csv', type: 'text/csv; charset=utf-8', writer: createCsvWriter },
  json: { extension: 'json', type: 'application/json; charset=utf-8', writer: createJsonWriter },
  xml: { extension: 'xml', type: 'text/xml; charset=utf-8', writer: createXmlWriter },
  yaml: { extension: 'yaml', type: 'text/yaml; charset=utf-8', writer: createYamlWriter },
} as const satisfies Record<string, ExportFormat>;

export type ExportFormatName = keyof typeof EXPORT_FORMATS;

/**
 * Parses the query parameter `export`; undefined without a value.
 * @throws INVALID_QUERY for an unknown format
 */
export function parseExportFormat(raw: unknown): ExportFormatName | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (typeof raw === 'string' && Object.hasOwn(EXPORT_FORMATS, raw)) return raw as ExportFormatName;
  const names = Object.keys(EXPORT_FORMATS).join(', ');
  throw fail('INVALID_QUERY', `export: there is no such format; there are ${names}`, { path: ['export'] });
}
