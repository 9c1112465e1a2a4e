import { fail } from '#kernel';
import type { Collection, Column, Field } from '../../schema/contract.ts';
import type { FieldReference, OrderBy, OrderByRelation } from '../contract.ts';
import { isSortableUnknownTypeField } from '../element-field.ts';
import { keyColumns } from '../key-columns.ts';
import { parseFieldReference } from './functions.ts';
import { countQueryPart, type QueryParseContext, resolveCollection, resolveField } from './parse-context.ts';
import { parseFieldPathStep, splitFieldPath } from './path-steps.ts';
import { createInvalidQueryFailure, parseNameListParameter, type QueryErrorPath } from './raw-values.ts';

/** Parses `-author.name` to its path and direction. */
export const parseDirection = (entry: string): { readonly text: string; readonly descending: boolean } =>
  entry.startsWith('-') ? { text: entry.slice(1).trim(), descending: true } : { text: entry, descending: false };

/** Parses `sort=-date,author.name`. An unknown name is FORBIDDEN like an unreadable one. */
export function parseSort(
  context: QueryParseContext,
  collection: Collection,
  raw: unknown,
  aliases: ReadonlyMap<string, string>,
  path: QueryErrorPath,
): readonly OrderBy[] {
  return parseNameListParameter(raw, path).map((entry, index) => {
    const at = [...path, index];
    countQueryPart(context, at);
    const { text, descending } = parseDirection(entry);
    return { ...parseSortPath(context, collection, splitFieldPath(aliases.get(text) ?? text, at), at), descending };
  });
}

function parseSortPath(
  context: QueryParseContext,
  collection: Collection,
  steps: readonly string[],
  at: QueryErrorPath,
) {
  const path: OrderByRelation[] = [];
  let collectionAt = collection;
  for (const step of steps.slice(0, -1)) {
    const next = parseSortStep(context, collectionAt, step, at);
    countQueryPart(context, at);
    path.push(next);
    collectionAt = next.to;
  }
  return { path, use: assertSortable(parseFieldReference(context, collectionAt, steps.at(-1) ?? '', at), at) };
}

function parseSortStep(
  context: QueryParseContext,
  collectionAt: Collection,
  step: string,
  at: QueryErrorPath,
): OrderByRelation {
  const { field: name, collection: only, fn } = parseFieldPathStep(step, at);
  const field = assertNotConcealed(resolveField(context, collectionAt, name));
  const { relation } = field;
  if (fn) throw createInvalidQueryFailure(`cannot sort through ${step.slice(0, 60)}`, at);
  if (relation?.kind === 'any') {
    if (only === undefined) throw createInvalidQueryFailure(`needs a collection: ${name}:<collection>`, at);
    const by = collectionAt.fields.get(relation.collectionField);
    if (!relation.allowedCollections.includes(only) || !by) throw fail('FORBIDDEN', `${name} does not lead to ${only}`);
    return { use: { field }, by, to: resolveCollection(context, only) };
  }
  if (!relation || only !== undefined) throw createInvalidQueryFailure(`cannot sort through ${step.slice(0, 60)}`, at);
  return { use: { field }, to: resolveCollection(context, relation.to) };
}

function assertNotConcealed(field: Field): Field {
  if (field.concealed) throw fail('FORBIDDEN', `${field.name} is concealed and cannot be sorted by`);
  return field;
}

function assertSortable(use: FieldReference, at: QueryErrorPath): FieldReference {
  const { column, type, name } = assertNotConcealed(use.field);
  if (use.fn) return use;
  if (!column) throw createInvalidQueryFailure(`cannot sort by ${name}`, at);
  if (!isOrdered(use.field))
    throw createInvalidQueryFailure(`cannot sort by ${name}: ${typeName(type, column)} has no order here`, at);
  return use;
}

const isOrdered = (field: Field): boolean =>
  isSortableUnknownTypeField(field) ||
  (!['json', 'unknown', 'binary'].includes(field.type) && !field.type.startsWith('geometry'));

const typeName = (type: Field['type'], { array, dataType }: Column): string =>
  array ? 'an array' : `the type ${type === 'unknown' ? dataType : type}`;

/** Adds the default order, and the key as the last tie breaker, so that pages never overlap. */
export function withDefaultOrder(
  collection: Collection,
  requested: readonly OrderBy[],
  manual: string | null,
): readonly OrderBy[] {
  const isRequested = (name: string) =>
    requested.some(({ path, use }) => path.length === 0 && !use.fn && use.field.name === name);
  const sortField = manual ?? collection.sortField;
  const keys = keyColumns(collection);
  const first = requested.length > 0 || sortField === null ? [] : [collection.fields.get(sortField)];
  const implied = [...first.filter((field) => field?.column && isOrdered(field)), ...keys]
    .filter((field) => field && !isRequested(field.name))
    .map((field) => ({ path: [], use: { field }, descending: false, implied: true }) as OrderBy);
  return [
    ...requested,
    ...implied.filter((one, at) => implied.findIndex((other) => other.use.field === one.use.field) === at),
  ];
}
