import { isDeepStrictEqual } from 'node:util';
import type { EventMeta } from '#kernel';
import { MASK } from '../extension-settings/contract.ts';
import { type Collection, type Field, type Overview, SYSTEM_PREFIX } from '../schema/contract.ts';

/** A filter has answered with a change that is not its to make. */
export class RowChangeRefused extends Error {}

/** What a hook is shown of the rows that an event is about, and what it may make of them. Values are plain JSON. */
export interface EventRows {
  /** Passwords, tokens and the like read as the mask, also in rows that are written along. */
  mask(value: unknown): unknown;
  /**
   * What a filter answered, with what the mask stands for; undefined for no change. Rows of the service stay as they are,
   * whoever acts: its own rules were asked before, and who may do what is not for a stranger to decide. RowChangeRefused.
   */
  applyAnswer(answer: unknown, payload: unknown): unknown;
}

const WRITES = ['create', 'update', 'delete'];
const ABOUT_ROWS = [...WRITES, 'read'];

/** Undefined for events that are not about rows. */
export function createEventRows({ event, collection: name }: EventMeta, overview: Overview): EventRows | undefined {
  const collection = typeof name === 'string' ? overview.collections.get(name) : undefined;
  const verb = collection && parseVerb(event, collection);
  if (!collection || verb === undefined) return undefined;
  const shown = (value: unknown) => mapRows(overview, collection, value, undefined, { onConcealed: maskValue });
  return {
    mask: shown,
    applyAnswer(answer, payload) {
      const isOurs = collection.system && WRITES.includes(verb);
      const taken = mapRows(overview, collection, answer, payload, {
        onConcealed: unmaskValue,
        onRelated: isOurs ? undefined : assertSystemRowUnchanged,
      });
      if (!isOurs) return taken;
      if (!isDeepStrictEqual(taken, payload)) throw new RowChangeRefused(`rows of ${collection.name}`);
      return undefined;
    },
  };
}

function parseVerb(event: string, { name, system }: Collection): string | undefined {
  const verb = event.slice(event.lastIndexOf('.') + 1);
  const names = system ? [`${name.slice(SYSTEM_PREFIX.length)}.${verb}`] : [`items.${verb}`, `${name}.items.${verb}`];
  return ABOUT_ROWS.includes(verb) && names.includes(event) ? verb : undefined;
}

type Row = Readonly<Record<string, unknown>>;
const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);
const memberOf = (value: unknown, key: string): unknown =>
  isRow(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** What is done on the way through rows; `was` is what stood at the same place before. */
interface RowVisitor {
  onConcealed(value: unknown, was: unknown): unknown;
  onRelated?: ((field: Field, to: readonly Collection[], value: unknown, was: unknown) => void) | undefined;
}

const maskValue = (value: unknown): unknown => (value === null || value === undefined ? value : MASK);
const unmaskValue = (value: unknown, was: unknown): unknown => (value === MASK && was !== undefined ? was : value);

/** Rows of the service are written along as whoever acts has put them, or not at all; their keys are values like others. */
function assertSystemRowUnchanged({ relation }: Field, to: readonly Collection[], value: unknown, was: unknown): void {
  const [ours] = to.filter(({ system }) => system);
  if (!ours || (relation?.kind !== 'many' && !isRow(value)) || isDeepStrictEqual(value, was)) return;
  throw new RowChangeRefused(`rows of ${ours.name}`);
}

/** A row, or a list of rows, of one collection, and all rows in it. */
function mapRows(overview: Overview, collection: Collection, value: unknown, was: unknown, steps: RowVisitor): unknown {
  if (Array.isArray(value)) {
    return value.map((one, at) => mapRows(overview, collection, one, Array.isArray(was) ? was[at] : undefined, steps));
  }
  if (!isRow(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const field = collection.fields.get(name);
      const before = memberOf(was, name);
      if (!field) return [name, inner];
      return [
        name,
        field.concealed
          ? steps.onConcealed(inner, before)
          : mapRelatedRows(overview, field, value, inner, before, steps),
      ];
    }),
  );
}

function mapRelatedRows(
  overview: Overview,
  field: Field,
  row: Row,
  value: unknown,
  was: unknown,
  steps: RowVisitor,
): unknown {
  const to = listTargets(field, row).flatMap((name) => overview.collections.get(name) ?? []);
  const isChanges = field.relation?.kind === 'many' && isRow(value);
  const inside = (inner: unknown, before: unknown) =>
    to.reduce((rest, collection) => mapRows(overview, collection, rest, before, steps), inner);
  const through = isChanges
    ? Object.fromEntries(Object.entries(value).map(([name, list]) => [name, inside(list, memberOf(was, name))]))
    : inside(value, was);
  steps.onRelated?.(field, to, through, was);
  return through;
}

/** Where a row does not say which of several collections it means, it may be any. */
function listTargets({ relation }: Field, row: Row): readonly string[] {
  if (!relation) return [];
  if (relation.kind !== 'any') return [relation.to];
  const named = memberOf(row, relation.by);
  return relation.allowed.filter((name) => name === named || !relation.allowed.includes(named as string));
}
