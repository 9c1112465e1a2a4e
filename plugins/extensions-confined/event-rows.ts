import { isDeepStrictEqual } from 'node:util';
import type { EventMeta } from '#kernel';
import { CONCEALED_VALUE_MASK } from '../extension-settings/contract.ts';
import { type Collection, type Field, type SchemaOverview, SYSTEM_COLLECTION_PREFIX } from '../schema/contract.ts';

/** A filter answered a change that it may not make. The message names the rows. */
export class RowChangeRefused extends Error {}

/** The rows of an event as a confined hook sees them, and the changes that it may make. Values are plain JSON. */
export interface ConfinedEventRowView {
  /** Replaces concealed values (passwords, tokens) with the mask, also in nested rows. */
  mask(value: unknown): unknown;
  /**
   * A filter's answer with the masked values restored; undefined for no change.
   * @throws RowChangeRefused for a change of system rows: permissions were checked before, and third-party code must
   * not change who may do what.
   */
  applyAnswer(answer: unknown, payload: unknown): unknown;
}

const WRITES = ['create', 'update', 'delete'];
const ABOUT_ROWS = [...WRITES, 'read'];

/** Undefined for events that are not about rows. */
export function createConfinedEventRowView(
  { event, collection: name }: EventMeta,
  schema: SchemaOverview,
): ConfinedEventRowView | undefined {
  const collection = typeof name === 'string' ? schema.collections.get(name) : undefined;
  const verb = collection && parseVerb(event, collection);
  if (!collection || verb === undefined) return undefined;
  const shown = (value: unknown) => mapRows(schema, collection, value, undefined, { onConcealed: maskValue });
  return {
    mask: shown,
    applyAnswer(answer, payload) {
      const isSystemWrite = collection.system && WRITES.includes(verb);
      const unmasked = mapRows(schema, collection, answer, payload, {
        onConcealed: unmaskValue,
        onRelated: isSystemWrite ? undefined : assertSystemRowUnchanged,
      });
      if (!isSystemWrite) return unmasked;
      if (!isDeepStrictEqual(unmasked, payload)) throw new RowChangeRefused(`rows of ${collection.name}`);
      return undefined;
    },
  };
}

function parseVerb(event: string, { name, system }: Collection): string | undefined {
  const verb = event.slice(event.lastIndexOf('.') + 1);
  const names = system
    ? [`${name.slice(SYSTEM_COLLECTION_PREFIX.length)}.${verb}`]
    : [`items.${verb}`, `${name}.items.${verb}`];
  return ABOUT_ROWS.includes(verb) && names.includes(event) ? verb : undefined;
}

type Row = Readonly<Record<string, unknown>>;
const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);
const memberOf = (value: unknown, key: string): unknown =>
  isRow(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** Called for each concealed field and each relation; `was` is the value before, at the same path. */
interface RowVisitor {
  onConcealed(value: unknown, was: unknown): unknown;
  onRelated?: ((field: Field, to: readonly Collection[], value: unknown, was: unknown) => void) | undefined;
}

const maskValue = (value: unknown): unknown => (value === null || value === undefined ? value : CONCEALED_VALUE_MASK);
const unmaskValue = (value: unknown, was: unknown): unknown =>
  value === CONCEALED_VALUE_MASK && was !== undefined ? was : value;

/** Nested system rows must be as the caller sent them. A key alone is a value like any other. */
function assertSystemRowUnchanged({ relation }: Field, to: readonly Collection[], value: unknown, was: unknown): void {
  const [systemCollection] = to.filter(({ system }) => system);
  if (!systemCollection || (relation?.kind !== 'many' && !isRow(value)) || isDeepStrictEqual(value, was)) return;
  throw new RowChangeRefused(`rows of ${systemCollection.name}`);
}

/** Maps a row or a list of rows of one collection, with all nested rows. */
function mapRows(
  schema: SchemaOverview,
  collection: Collection,
  value: unknown,
  was: unknown,
  steps: RowVisitor,
): unknown {
  if (Array.isArray(value)) {
    return value.map((one, at) => mapRows(schema, collection, one, Array.isArray(was) ? was[at] : undefined, steps));
  }
  if (!isRow(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const field = collection.fields.get(name);
      const before = memberOf(was, name);
      if (!field) return [name, inner];
      return [
        name,
        field.concealed ? steps.onConcealed(inner, before) : mapRelatedRows(schema, field, value, inner, before, steps),
      ];
    }),
  );
}

function mapRelatedRows(
  schema: SchemaOverview,
  field: Field,
  row: Row,
  value: unknown,
  was: unknown,
  steps: RowVisitor,
): unknown {
  const to = listTargets(field, row).flatMap((name) => schema.collections.get(name) ?? []);
  const isChanges = field.relation?.kind === 'many' && isRow(value);
  const mapTargets = (inner: unknown, before: unknown) =>
    to.reduce((rest, collection) => mapRows(schema, collection, rest, before, steps), inner);
  const mapped = isChanges
    ? Object.fromEntries(Object.entries(value).map(([name, list]) => [name, mapTargets(list, memberOf(was, name))]))
    : mapTargets(value, was);
  steps.onRelated?.(field, to, mapped, was);
  return mapped;
}

/** The collections that a relation may refer to; all allowed ones if the row does not name one. */
function listTargets({ relation }: Field, row: Row): readonly string[] {
  if (!relation) return [];
  if (relation.kind !== 'any') return [relation.to];
  const named = memberOf(row, relation.collectionField);
  return relation.allowedCollections.filter(
    (name) => name === named || !relation.allowedCollections.includes(named as string),
  );
}
