import type { GroupSelection, Read, Selected, SelectedGroup, Selection } from '../../query/contract.ts';
import { labelled } from '../../query/library.ts';
import { exactNumber } from './export/exact.ts';
import type { Form } from './rest-form.ts';

// The answer to a selection, made of rows in the form of REST as PostgreSQL makes it where nobody listens.

/** Tells of an item of a many-to-any which collection it is of. */
export const COLLECTION = '$collection';

type Row = Readonly<Record<string, unknown>>;

export const rowShape =
  ({ shown }: Selection, form: Form) =>
  (row: unknown): unknown =>
    isRow(row) ? shaped(shown, form, row) : null;

const shaped = (shown: readonly Selected[], form: Form, row: Row): Row =>
  Object.fromEntries(shown.map((one) => [one.key, made(one, form, row)]));

function made(one: Selected, form: Form, row: Row): unknown {
  if (one.kind === 'constant') return one.value;
  if (one.kind === 'object') return shaped(one.shown, form, row);
  const key = form.keys.get(one) as string;
  const value = member(row, key);
  if (one.kind === 'column') return inForm(value, one.as);
  if (one.kind === 'related') {
    const shape = rowShape(one.selection, form.behind.get(key) as Form);
    return Array.isArray(value) ? value.map(shape) : shape(value);
  }
  const name = isRow(value) ? member(value, COLLECTION) : undefined;
  const selection = typeof name === 'string' && Object.hasOwn(one.of, name) ? one.of[name] : undefined;
  return selection ? rowShape(selection, form.behind.get(`${key}:${name}`) as Form)(value) : null;
}

/** A row of groups. Exact types are texts in it, and numbers in the answer. */
export function groupShape({ groups }: GroupSelection, { aggregate }: Read): (row: unknown) => unknown {
  const keys = aggregate?.groups.map(({ key }) => key) ?? [];
  const numbers = new Set(
    aggregate?.functions.flatMap(({ key, use }) => (use && NUMBERS.has(use.field.type) ? [key] : [])),
  );

  function groupValue(one: SelectedGroup, row: Row): unknown {
    if (one.kind === 'constant') return one.value;
    if (one.kind === 'groups')
      return keys.length === 0 ? null : Object.fromEntries(keys.map((key) => [key, member(row, key)]));
    if (one.kind === 'count') return member(row, 'countAll');
    const results = member(row, one.name);
    return Object.fromEntries(
      one.of.map((inner) => {
        if (inner.kind === 'constant') return [inner.key, inner.value];
        const value = isRow(results) ? member(results, inner.field) : results;
        return [inner.key, inForm(value, numbers.has(inner.field) ? 'number' : undefined)];
      }),
    );
  }

  return (row) => (isRow(row) ? Object.fromEntries(groups.map((one) => [one.key, groupValue(one, row)])) : null);
}

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'bigInteger', 'decimal', 'float']);

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

const member = (row: Row, key: string): unknown => (Object.hasOwn(row, key) ? (row[key] ?? null) : null);

/** Lists and objects stay as they are. */
function inForm(value: unknown, as: Extract<Selected, { kind: 'column' }>['as']): unknown {
  if (typeof as === 'object') return labelled(value, as.labels);
  if (typeof value === 'object' || as === undefined) return value;
  if (as === 'text') return String(value);
  return typeof value === 'string' ? exactNumber(value) : value;
}
