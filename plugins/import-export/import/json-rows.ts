import { Failure, fail } from '#kernel';
import { assertStorableJson } from '../../http/library.ts';
import { JsonListSplitter } from './json-list.ts';
import { createMalformedFailure, type RowLimits, type SourceRow, unreadableRow } from './source-row.ts';

/** Reads the rows of a JSON list of objects. A malformed file ends with a row that has the failure. */
export async function* readJsonRows(
  text: AsyncIterable<string>,
  limits: RowLimits,
): AsyncGenerator<SourceRow, void, undefined> {
  const splitter = new JsonListSplitter(limits);
  let row = 1;
  try {
    for await (const chunk of text) {
      for (const element of splitter.push(chunk)) {
        yield toRow(element, row);
        row++;
      }
    }
    splitter.end();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    yield unreadableRow({ row }, error);
  }
}

/** @throws INVALID_PAYLOAD for malformed JSON, behind which nothing can be read */
function toRow(element: string, row: number): SourceRow {
  let value: unknown;
  try {
    value = JSON.parse(element);
  } catch {
    throw createMalformedFailure(`Element ${row} of the list is no JSON.`);
  }
  const position = { row };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return unreadableRow(position, fail('INVALID_PAYLOAD', `Element ${row} of the list is no object.`, { path: [] }));
  try {
    assertStorableJson(value, element, `Element ${row} of the list`);
  } catch (error) {
    return unreadableRow(position, error as Failure);
  }
  return { position, payload: value as Record<string, unknown>, size: element.length };
}
