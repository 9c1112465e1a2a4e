import { joinCompositeKey, parsePrimaryKeyValue, splitCompositeKey } from '../../query/library.ts';
import type { Collection, Field, SchemaOverview } from '../../schema/contract.ts';

type Row = Record<string, unknown>;

/** Stands for a value that is known after the write. It satisfies only rules that require a value. */
export const UNKNOWN_UNTIL_WRITTEN = Symbol('unknown until it is written');

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The key of the related row that a payload contains as an object; undefined when a part of the key is missing. */
export function keyOfRelatedObject(
  schema: SchemaOverview,
  field: Field | undefined,
  value: unknown,
  row: Row,
): unknown {
  if (!isObject(value)) return undefined;
  const key = targetKey(schema, field, row);
  if (!key) return undefined;
  const parts = (key.parts ?? [key]).map(({ name }) => value[name] ?? undefined);
  if (!parts.every(isPlain)) return undefined;
  return key.parts ? keyText(key, parts) : (parsePrimaryKeyValue(key, parts[0]) ?? parts[0]);
}

function targetKey({ collections }: SchemaOverview, field: Field | undefined, row: Row): Field | null | undefined {
  const { relation } = field ?? {};
  if (relation?.kind !== 'one' && relation?.kind !== 'any') return undefined;
  return collections.get(relation.kind === 'one' ? relation.to : String(row[relation.collectionField]))?.key;
}

/**
 * Completes a row for validations: the value of a composite foreign key follows from its columns, and the reverse.
 * @param absent whether a column is null when the payload does not have it
 */
export function withCompositeKeyValues(
  { compositeForeignKeys }: Collection,
  row: Row,
  schema: SchemaOverview,
  absent: (name: string) => boolean = () => false,
): Row {
  if (compositeForeignKeys.length === 0) return row;
  const seen: Row = { ...row };
  for (const field of compositeForeignKeys) {
    const { name, parts = [] } = field;
    const value = row[name];
    if (isObject(value)) {
      const names = (targetKey(schema, field, row)?.parts ?? []).map((part) => part.name);
      for (const [at, part] of parts.entries()) {
        const named = value[names[at] ?? ''];
        if (!Object.hasOwn(row, part.name))
          seen[part.name] = isPlain(named) ? (parsePrimaryKeyValue(part, named) ?? named) : UNKNOWN_UNTIL_WRITTEN;
      }
    } else if (value === undefined && parts.some((part) => Object.hasOwn(row, part.name)))
      seen[name] = jointValue(field, row, absent);
  }
  return seen;
}

function jointValue(field: Field, row: Row, absent: (name: string) => boolean): unknown {
  const values = (field.parts ?? []).map(({ name }) => {
    const value = row[name];
    return value === undefined ? (absent(name) ? null : UNKNOWN_UNTIL_WRITTEN) : value;
  });
  if (values.includes(null)) return null;
  return values.every(isPlain) ? keyText(field, values) : UNKNOWN_UNTIL_WRITTEN;
}

const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

const keyText = (field: Field, values: readonly unknown[]): unknown => {
  const text = joinCompositeKey(values.map(String));
  return parsePrimaryKeyValue(field, text) ?? text;
};

/** Replaces presets of composite foreign keys by presets of their columns. An object of the payload wins over both. */
export function expandCompositeKeyPresets({ compositeForeignKeys }: Collection, presets: Row, submitted: Row): Row {
  if (compositeForeignKeys.length === 0) return presets;
  const found: Row = { ...presets };
  for (const field of compositeForeignKeys) {
    const { name, parts = [] } = field;
    const text = typeof presets[name] === 'string' ? parsePrimaryKeyValue(field, presets[name]) : undefined;
    delete found[name];
    const values = text === undefined ? [] : splitCompositeKey(String(text));
    for (const [at, part] of parts.entries()) {
      if (isObject(submitted[name])) delete found[part.name];
      else if (values[at] !== undefined && !Object.hasOwn(presets, part.name)) found[part.name] = values[at];
    }
  }
  return found;
}
