import { fail } from '#kernel';
import type { Column } from './columns.ts';
import { csvWriter } from './csv.ts';
import { jsonWriter } from './json.ts';
import { xmlWriter } from './xml.ts';
import { yamlWriter } from './yaml.ts';

/** Text of a file, made from rows as JSON texts, a batch at a time. */
export interface Writer {
  /** Before the first row; not used where there is none. */
  readonly begin: string;
  /** `first`: nothing was written but `begin`. */
  rows(batch: readonly string[], first: boolean): string;
  readonly end: string;
  /** The whole file where there is no row. */
  readonly none: string;
}

export interface Format {
  readonly extension: string;
  readonly type: string;
  /** What writes comes with its library, which is loaded when it is needed. */
  writer(columns: readonly Column[]): Promise<Writer> | Writer;
}

/** Formats of `export` (conventions, "`export` on reads"). */
export const FORMATS = {
  csv: { extension: 'csv', type: 'text/csv', writer: csvWriter },
  csv_utf8: { extension: 'csv', type: 'text/csv; charset=utf-8', writer: csvWriter },
  json: { extension: 'json', type: 'application/json; charset=utf-8', writer: jsonWriter },
  xml: { extension: 'xml', type: 'text/xml; charset=utf-8', writer: xmlWriter },
  yaml: { extension: 'yaml', type: 'text/yaml; charset=utf-8', writer: yamlWriter },
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof FORMATS;

/** Undefined where nothing was asked for. INVALID_QUERY for a format that there is not. */
export function formatOf(raw: unknown): FormatName | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (typeof raw === 'string' && Object.hasOwn(FORMATS, raw)) return raw as FormatName;
  const names = Object.keys(FORMATS).join(', ');
  throw fail('INVALID_QUERY', `export: there is no such format; there are ${names}`, { path: ['export'] });
}
