import type { ExportColumn } from './columns.ts';
import { exactNumberText, parseExactJson } from './exact-numbers.ts';
import type { ExportWriter } from './formats.ts';

/**
 * Writes rows as CSV: a header, then a line for each row; texts are quoted, null is empty. Values that begin like a
 * formula are not changed: a spreadsheet has to open them as texts itself.
 */
export async function createCsvWriter(columns: readonly ExportColumn[]): Promise<ExportWriter> {
  const { stringify } = await import('csv-stringify/sync');
  const lines = (records: readonly (readonly unknown[])[]) =>
    stringify(records as unknown[][], { quoted_string: true, cast: { boolean: String } });
  return {
    begin: '',
    rows(batch, first) {
      const records = batch.map((text) => {
        const row = parseExactJson(text);
        return columns.map(({ path }) => cellValue(row, path));
      });
      return lines(first ? [columns.map(({ name }) => name), ...records] : records);
    },
    end: '',
    empty: '',
  };
}

function cellValue(row: unknown, path: readonly string[]): unknown {
  let value = row;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return null;
    value = (value as Record<string, unknown>)[key];
  }
  if (typeof value !== 'object' || value === null) return value;
  return exactNumberText(value) ?? JSON.stringify(value);
}
