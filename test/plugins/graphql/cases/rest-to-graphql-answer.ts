import type { GraphqlSelectionEntry } from './document-entries.ts';
import { type JsonWithText, parseJsonWithText } from './json-text.ts';

/**
 * Converts a JSON answer of REST into the answer that GraphQL gives to a document: keys are renamed and ordered as in
 * the document, an `ID` is a text, a `Float` a number, functions are grouped. Everything else keeps its bytes.
 */
export function toGraphqlAnswer(rest: string, entries: readonly GraphqlSelectionEntry[]): string {
  const json = parseJsonWithText(rest);
  return json.kind === 'list'
    ? `[${json.of.map((row) => renderRow(row, entries)).join(',')}]`
    : renderRow(json, entries);
}

/** Removes the line breaks that PostgreSQL puts between the rows of an aggregated JSON list. */
export const removeRowLineBreaks = (json: string): string => json.replaceAll(', \n {', ', {');

/** Whether GraphQL and REST must answer the same bytes, since the document renames and converts no value. */
export const hasSameAnswerAsRest = (entries: readonly GraphqlSelectionEntry[]): boolean =>
  entries.every((entry) => {
    if (entry.kind === 'column') return !entry.as && entry.from.length === 1 && entry.from[0] === entry.key;
    return entry.kind === 'rows' && entry.from[0] === entry.key && hasSameAnswerAsRest(entry.of);
  });

function renderRow(row: JsonWithText, entries: readonly GraphqlSelectionEntry[]): string {
  if (row.kind !== 'object') return row.text;
  // Keys longer than 63 bytes are rendered by another PostgreSQL function, which puts other spaces.
  const isLong = entries.some(({ key }) => Buffer.byteLength(key) > 63);
  const [colon, comma] = isLong ? [' : ', ', '] : [':', ','];
  return `{${entries.map((entry) => `${JSON.stringify(entry.key)}${colon}${renderEntry(row, entry)}`).join(comma)}}`;
}

function renderEntry(row: JsonWithText, entry: GraphqlSelectionEntry): string {
  switch (entry.kind) {
    case 'typename':
      return JSON.stringify(entry.type);
    case 'column':
      return renderValue(valueAt(row, entry.from), entry.as);
    case 'functions':
    case 'groups':
      return renderRow(row, entry.of);
    case 'rows':
      return renderRelated(valueAt(row, entry.from), (one) => renderRow(one, entry.of));
    case 'keys':
      return renderRelated(valueAt(row, entry.from), (one) =>
        one.text === 'null' ? 'null' : `{${JSON.stringify(entry.primary)}:${renderValue(one, 'text')}}`,
      );
    case 'any':
      return renderManyToAny(valueAt(row, entry.from), entry);
  }
}

const renderRelated = (json: JsonWithText, one: (json: JsonWithText) => string): string =>
  json.kind === 'list' ? `[${json.of.map(one).join(', ')}]` : one(json);

/**
 * Finds the collection of a many-to-any row by its fields, since REST does not name it. For a bare key, which REST
 * answers where no field is selected, GraphQL answers an empty object if the row exists.
 */
function renderManyToAny(json: JsonWithText, { of, unasked }: Extract<GraphqlSelectionEntry, { kind: 'any' }>): string {
  if (json.kind !== 'object') return json.text !== 'null' && unasked.has(JSON.parse(json.text)) ? '{}' : 'null';
  if (json.of.size === 0) return '{}';
  const fits = [...of.values()].find((entries) => {
    const names = restKeys(entries);
    return names.size === json.of.size && [...names].every((name) => json.of.has(name));
  });
  if (!fits) throw new Error(`nothing was asked that fits ${json.text}`);
  return renderRow(json, fits);
}

/** The keys in a REST row from which these entries take their values. */
const restKeys = (entries: readonly GraphqlSelectionEntry[]): ReadonlySet<string> =>
  new Set(
    entries.flatMap((entry) => {
      if (entry.kind === 'typename') return [];
      return 'from' in entry ? [entry.from[0] as string] : [...restKeys(entry.of)];
    }),
  );

function valueAt(row: JsonWithText, [name = '', ...rest]: readonly string[]): JsonWithText {
  const found = row.kind === 'object' ? row.of.get(name) : undefined;
  if (!found) throw new Error(`REST shows no ${name} in ${row.text}`);
  return rest.length > 0 ? valueAt(found, rest) : found;
}

function renderValue({ kind, text }: JsonWithText, as: 'text' | 'number' | undefined): string {
  if (kind !== 'value' || text === 'null' || !as) return text;
  if (as === 'text') return text.startsWith('"') ? text : JSON.stringify(text);
  const number: string = text.startsWith('"') ? JSON.parse(text) : text;
  return Number.isFinite(Number(number)) ? number : 'null';
}
