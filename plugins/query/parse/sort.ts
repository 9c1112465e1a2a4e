import { fail } from '#kernel';
import type { Collection, Column, Field } from '../../schema/contract.ts';
import type { FieldUse, Order, OrderStep } from '../contract.ts';
import { hasOrder } from '../element.ts';
import { keyColumns } from '../key-columns.ts';
import { useOf } from './functions.ts';
import { nameOf, stepsOf } from './names.ts';
import { collectionNamed, knownField, type Scope, spend } from './scope.ts';
import { invalid, type Path, textList } from './shape.ts';

/** `-author.name` and the like: which way round, and by what. */
export const directed = (entry: string): { readonly text: string; readonly descending: boolean } =>
  entry.startsWith('-') ? { text: entry.slice(1).trim(), descending: true } : { text: entry, descending: false };

/** `sort=-date,author.name`; a name that is unknown or leads nowhere is FORBIDDEN, like one that may not be read. */
export function parseSort(
  scope: Scope,
  collection: Collection,
  raw: unknown,
  aliases: ReadonlyMap<string, string>,
  path: Path,
): readonly Order[] {
  return textList(raw, path).map((entry, index) => {
    const at = [...path, index];
    spend(scope, at);
    const { text, descending } = directed(entry);
    return { ...follow(scope, collection, stepsOf(aliases.get(text) ?? text, at), at), descending };
  });
}

function follow(scope: Scope, collection: Collection, steps: readonly string[], at: Path) {
  const path: OrderStep[] = [];
  let here = collection;
  for (const step of steps.slice(0, -1)) {
    const next = stepOf(scope, here, step, at);
    spend(scope, at);
    path.push(next);
    here = next.to;
  }
  return { path, use: sortable(useOf(scope, here, steps.at(-1) ?? '', at), at) };
}

function stepOf(scope: Scope, here: Collection, step: string, at: Path): OrderStep {
  const { field: name, collection: only, fn } = nameOf(step, at);
  const field = readable(knownField(scope, here, name));
  const { relation } = field;
  if (fn) throw invalid(`cannot sort through ${step.slice(0, 60)}`, at);
  if (relation?.kind === 'any') {
    if (only === undefined) throw invalid(`needs a collection: ${name}:<collection>`, at);
    const by = here.fields.get(relation.by);
    if (!relation.allowed.includes(only) || !by) throw fail('FORBIDDEN', `${name} does not lead to ${only}`);
    return { use: { field }, by, to: collectionNamed(scope, only) };
  }
  if (!relation || only !== undefined) throw invalid(`cannot sort through ${step.slice(0, 60)}`, at);
  return { use: { field }, to: collectionNamed(scope, relation.to) };
}

function readable(field: Field): Field {
  if (field.concealed) throw fail('FORBIDDEN', `${field.name} is concealed and cannot be sorted by`);
  return field;
}

function sortable(use: FieldUse, at: Path): FieldUse {
  const { column, type, name } = readable(use.field);
  if (use.fn) return use;
  if (!column) throw invalid(`cannot sort by ${name}`, at);
  if (!isOrdered(use.field)) throw invalid(`cannot sort by ${name}: ${kindOf(type, column)} has no order here`, at);
  return use;
}

const isOrdered = (field: Field): boolean =>
  hasOrder(field) || (!['json', 'unknown', 'binary'].includes(field.type) && !field.type.startsWith('geometry'));

const kindOf = (type: Field['type'], { array, dataType }: Column): string =>
  array ? 'an array' : `the type ${type === 'unknown' ? dataType : type}`;

/** The default order, and the key as the last tie breaker, so that pages never overlap. */
export function withDefaults(collection: Collection, asked: readonly Order[], manual: string | null): readonly Order[] {
  const isAsked = (name: string) =>
    asked.some(({ path, use }) => path.length === 0 && !use.fn && use.field.name === name);
  const sortField = manual ?? collection.sortField;
  const keys = keyColumns(collection);
  const first = asked.length > 0 || sortField === null ? [] : [collection.fields.get(sortField)];
  const implied = [...first.filter((field) => field?.column && isOrdered(field)), ...keys]
    .filter((field) => field && !isAsked(field.name))
    .map((field) => ({ path: [], use: { field }, descending: false, implied: true }) as Order);
  return [
    ...asked,
    ...implied.filter((one, at) => implied.findIndex((other) => other.use.field === one.use.field) === at),
  ];
}
