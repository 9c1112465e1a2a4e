import { fail } from '#kernel';
import { assertStorableJson } from '../../http/library.ts';
import type { Payload } from '../../items/contract.ts';
import type { Collection, Field, SchemaOverview } from '../../schema/contract.ts';

/** A column of a CSV file: the path of its field, and how its cells are read. */
export interface CsvColumn {
  readonly name: string;
  /** `author.name` is the field `name` of a related row. Empty for a column without a name, whose cells are empty. */
  readonly path: readonly string[];
  /** The value of a cell that is not empty. @throws INVALID_PAYLOAD */
  parse(text: string): unknown;
}

/** Types whose cells stay text, whatever they look like. */
const TEXT_TYPES: readonly string[] = ['string', 'text', 'hash'];

/**
 * The columns of a header.
 * @throws INVALID_PAYLOAD for a name that appears twice
 */
export function parseCsvHeader(
  header: readonly string[],
  collection: Collection,
  schema: SchemaOverview,
): readonly CsvColumn[] {
  const names = new Set<string>();
  return header.map((raw, at) => {
    const name = raw.trim();
    if (name === '') return createNamelessColumn(at);
    if (names.has(name))
      throw fail('INVALID_PAYLOAD', `The column "${name}" appears twice.`, { field: name, path: [] });
    names.add(name);
    const path = collection.fields.has(name) ? [name] : name.split('.');
    if (path.some((part) => part === '' || part === '__proto__'))
      throw fail('INVALID_PAYLOAD', `"${name}" is no name of a field.`, { field: name, path: [] });
    const field = findField(path, collection, schema);
    return { name, path, parse: (text) => parseCell(name, field, text) };
  });
}

/** The payload of a record: empty cells are left out, and dotted columns are nested objects. */
export function toPayload(columns: readonly CsvColumn[], cells: readonly string[]): Payload {
  const payload: Payload = {};
  for (const [at, { path, parse }] of columns.entries()) {
    const text = cells[at] ?? '';
    if (text !== '') setAtPath(payload, path, parse(text));
  }
  return payload;
}

/** Spreadsheets often end each line with a delimiter. */
const createNamelessColumn = (at: number): CsvColumn => ({
  name: '',
  path: [],
  parse() {
    throw fail('INVALID_PAYLOAD', `The column ${at + 1} has no name in the header.`, { path: [] });
  },
});

function setAtPath(payload: Payload, path: readonly string[], value: unknown): void {
  let target = payload;
  for (const name of path.slice(0, -1)) {
    const inner = target[name];
    // A column `author` beside `author.name` holds the key or an object; the object of the dotted columns replaces a key.
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) target = inner as Payload;
    else {
      const created: Payload = {};
      target[name] = created;
      target = created;
    }
  }
  target[path.at(-1) as string] = value;
}

/** The field at the end of a path of many-to-one relations; undefined for an unknown one, which the write reports. */
function findField(
  path: readonly string[],
  collection: Collection,
  { collections }: SchemaOverview,
): Field | undefined {
  let current: Collection | undefined = collection;
  for (const name of path.slice(0, -1)) {
    const relation: Field['relation'] | undefined = current?.fields.get(name)?.relation;
    current = relation?.kind === 'one' ? collections.get(relation.to) : undefined;
  }
  return current?.fields.get(path.at(-1) as string);
}

/** Reads a cell by the type of its field (conventions, "Import"); without a field by its looks. */
function parseCell(name: string, field: Field | undefined, text: string): unknown {
  if (text === 'null') return null;
  if (field && TEXT_TYPES.includes(field.type)) return text;
  const isList = field?.type === 'csv' || Boolean(field?.column?.array);
  if (isList && !text.startsWith('[')) return field?.type === 'csv' ? text : text.split(',').map((one) => one.trim());
  if (text === 'true' || text === 'false') return text === 'true';
  const isTree = !field || isList || field.type === 'json' || field.type.startsWith('geometry') || field.relation;
  return isTree ? parseJsonOrText(name, field, text) : text;
}

/** Text that is no JSON stays text, and so does a number, except in a field of JSON. */
function parseJsonOrText(name: string, field: Field | undefined, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof value === 'number' && field?.type !== 'json') return text;
  assertStorableJson(value, text, name);
  return value;
}
