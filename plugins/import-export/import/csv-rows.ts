import type { CsvError } from 'csv-parse';
import { Failure, fail } from '#kernel';
import type { ImportRow } from '../../items/contract.ts';
import type { Collection, SchemaOverview } from '../../schema/contract.ts';
import { type CsvColumn, parseCsvHeader, toPayload } from './csv-columns.ts';
import {
  createMalformedFailure,
  createRowTooLargeFailure,
  type RowLimits,
  type SourceRow,
  unreadableRow,
} from './source-row.ts';

interface CsvTarget extends RowLimits {
  readonly collection: Collection;
  readonly schema: SchemaOverview;
}

interface CsvRecord {
  readonly record: readonly string[];
  /** The line at which the record ends. */
  readonly lines: number;
}

const DELIMITERS = [',', ';', '\t', '|'];
/** Characters of the header that are looked at to find the delimiter. */
const HEADER_SAMPLE = 64 * 1024;

/**
 * Reads the rows of a CSV file with a header. The delimiter is the most frequent one of the header. A malformed file
 * ends with a row that has the failure.
 */
export async function* readCsvRows(
  text: AsyncIterable<string>,
  target: CsvTarget,
): AsyncGenerator<SourceRow, void, undefined> {
  let row = 1;
  let columns: readonly CsvColumn[] | undefined;
  let line = 1;
  try {
    for await (const { record, lines } of parseRecords(text, target.maxRowSize)) {
      if (columns) {
        yield toRow(columns, record, { row, line: lines - countLineBreaks(record) });
        row++;
      } else columns = parseCsvHeader(record, target.collection, target.schema);
      line = lines + 1;
    }
  } catch (error) {
    const failure = toFailure(error, target.maxRowSize);
    if (!failure) throw error;
    yield unreadableRow(columns ? { row, line } : { row }, failure);
  }
}

const countLineBreaks = (cells: readonly string[]): number =>
  cells.reduce((count, cell) => count + (/[\r\n]/.test(cell) ? cell.split(/\r\n|\r|\n/).length - 1 : 0), 0);

function toRow(columns: readonly CsvColumn[], cells: readonly string[], position: ImportRow['position']): SourceRow {
  try {
    if (cells.length !== columns.length)
      throw createMalformedFailure(`The row has ${cells.length} cells, and the header has ${columns.length}.`);
    let size = 0;
    for (const [at, cell] of cells.entries()) {
      size += cell.length;
      if (cell.includes('\0'))
        throw fail('INVALID_PAYLOAD', `${columns[at]?.name} contains a NUL character.`, { path: [] });
    }
    return { position, payload: toPayload(columns, cells), size };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return unreadableRow(position, error);
  }
}

/** Parses a text, and throws an error of the parser behind the records that precede it. */
async function* parseRecords(text: AsyncIterable<string>, maxRowSize: number): AsyncGenerator<CsvRecord> {
  const { parse } = await import('csv-parse');
  const iterator = text[Symbol.asyncIterator]();
  try {
    const head = await readHead(iterator);
    let records: CsvRecord[] = [];
    const parser = parse({
      delimiter: findDelimiter(head),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: maxRowSize,
      // A stream that fails would lose the records that it holds.
      on_record(record: readonly string[], { lines }) {
        records.push({ record, lines });
        return null;
      },
    });
    let failure: Error | undefined;
    parser.on('error', (error) => (failure = error)).resume();
    for (let chunk: string | undefined = head; chunk !== undefined; chunk = await nextChunk(iterator)) {
      await new Promise<unknown>((resolve) => parser.write(chunk, resolve));
      yield* records;
      if (failure) throw failure;
      records = [];
    }
    await new Promise<unknown>((resolve) => parser.once('error', resolve).end(resolve));
    yield* records;
    if (failure) throw failure;
  } finally {
    await iterator.return?.();
  }
}

async function nextChunk(iterator: AsyncIterator<string>): Promise<string | undefined> {
  const { done, value } = await iterator.next();
  return done ? undefined : value;
}

async function readHead(iterator: AsyncIterator<string>): Promise<string> {
  let head = '';
  while (head.length < HEADER_SAMPLE && !/[\r\n]/.test(head)) {
    const chunk = await nextChunk(iterator);
    if (chunk === undefined) break;
    head += chunk;
  }
  return head;
}

/** The most frequent delimiter of the first line, outside of quotes; a comma where there is none. */
function findDelimiter(head: string): string {
  const [line = ''] = head
    .slice(0, HEADER_SAMPLE)
    .replace(/"[^"]*"/g, '')
    .split(/[\r\n]/);
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] as string;
}

/** The failure of a malformed file; undefined for an error of the service. */
function toFailure(error: unknown, maxRowSize: number): Failure | undefined {
  if (error instanceof Failure) return error;
  if ((error as Error).constructor.name !== 'CsvError') return undefined;
  const { code } = error as CsvError;
  if (code === 'CSV_MAX_RECORD_SIZE') return createRowTooLargeFailure(maxRowSize);
  const isQuote = code.includes('QUOTE');
  return createMalformedFailure(
    isQuote ? 'A quote is not closed, or is in the middle of a cell.' : 'The CSV is malformed.',
  );
}
