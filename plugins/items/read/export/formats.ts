import { fail } from '#kernel';
import type { ExportColumn } from './columns.ts';
import { createCsvWriter } from './csv.ts';
import { createJsonWriter } from './json.ts';
import { createXmlWriter } from './xml.ts';
import { createYamlWriter } from './yaml.ts';

/** Text of a file, made from rows as JSON texts, a batch at a time. */
export interface ExportWriter {
  /** Before the first row; not used where there is none. */
  readonly begin: string;
  /** `first`: nothing was written but `begin`. */
  rows(batch: readonly string[], first: boolean): string;
  readonly end: string;
  /** The whole file where there is no row. */
  readonly empty: string;
}

export interface ExportFormat {
  readonly extension: string;
  readonly type: string;
  /** What writes comes with its library, which is loaded when it is needed. */
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

/** Undefined where nothing was asked for. INVALID_QUERY for a format that there is not. */
export function parseExportFormat(raw: unknown): ExportFormatName | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (typeof raw === 'string' && Object.hasOwn(EXPORT_FORMATS, raw)) return raw as ExportFormatName;
  const names = Object.keys(EXPORT_FORMATS).join(', ');
  throw fail('INVALID_QUERY', `export: there is no such format; there are ${names}`, { path: ['export'] });
}
