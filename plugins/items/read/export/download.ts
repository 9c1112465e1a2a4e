import type { ReadNode, ReadResultText, RowStream } from '../../../query/contract.ts';
import { type ExportColumn, exportColumnsOfRead, exportColumnsOfRows } from './columns.ts';
import { parseExactJson } from './exact-numbers.ts';
import { EXPORT_FORMATS, type ExportFormat, type ExportFormatName } from './formats.ts';

/** A file that is rendered while it is sent. */
export interface ExportDownload {
  readonly name: string;
  readonly type: string;
  readonly parts: AsyncIterable<string>;
}

/** The rows of a read as a file. */
export function createDownload(
  read: ReadNode,
  answer: ReadResultText | RowStream,
  formatName: ExportFormatName,
  onRows: (rows: number) => void = () => {},
): ExportDownload {
  const format: ExportFormat = EXPORT_FORMATS[formatName];
  const name = exportFileName(read.collection.name, formatName);
  if ('batches' in answer) {
    return { name, type: format.type, parts: renderParts(format, exportColumnsOfRead(read), answer.batches, onRows) };
  }
  // Groups, and rows that listeners received, are already in memory and tell their columns; a singleton is a list of
  // one.
  const parsed = parseExactJson(answer.data ?? '[]');
  const rows = Array.isArray(parsed) ? parsed : [parsed];
  const texts = rows.map((row) => JSON.stringify(row));
  return { name, type: format.type, parts: renderParts(format, exportColumnsOfRows(rows), [texts], onRows) };
}

/** The name of a file of exported rows: `article 20261121-170905.csv`. */
export const exportFileName = (collection: string, format: ExportFormatName): string =>
  `${collection} ${timestampText(new Date())}.${EXPORT_FORMATS[format].extension}`;

/** Rendering blocks the event loop, so it runs in small parts. */
const ROWS_AT_ONCE = 250;

async function* renderParts(
  format: ExportFormat,
  columns: readonly ExportColumn[],
  batches: AsyncIterable<readonly string[]> | readonly (readonly string[])[],
  onRows: (rows: number) => void,
): AsyncGenerator<string, void, undefined> {
  const writer = await format.writer(columns);
  let first = true;
  let count = 0;
  for await (const batch of batches) {
    for (let at = 0; at < batch.length; at += ROWS_AT_ONCE) {
      yield `${first ? writer.begin : ''}${writer.rows(batch.slice(at, at + ROWS_AT_ONCE), first)}`;
      first = false;
      count += Math.min(ROWS_AT_ONCE, batch.length - at);
      onRows(count);
    }
  }
  yield first ? writer.empty : writer.end;
}

/** `20261121-170905`, in UTC. */
const timestampText = (at: Date): string => at.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
