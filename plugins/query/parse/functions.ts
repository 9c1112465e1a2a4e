import { fail } from '#kernel';
import type { Collection, Field, FieldType } from '../../schema/contract.ts';
import { DATE_PARTS, type FieldFunction, type FieldReference } from '../contract.ts';
import { isNameOfVisibleField, type QueryParseContext, resolveCollection, resolveField } from './parse-context.ts';
import { type FieldPathStep, parseFieldPathStep } from './path-steps.ts';
import { createInvalidQueryFailure, type QueryErrorPath, renderNearestNameSuggestion } from './raw-values.ts';

const DAY_PARTS = ['year', 'month', 'week', 'day', 'weekday'];
const TIME_PARTS = ['hour', 'minute', 'second'];
const PARTS: Partial<Readonly<Record<FieldType, readonly string[]>>> = {
  date: DAY_PARTS,
  time: TIME_PARTS,
  dateTime: DATE_PARTS,
  timestamp: DATE_PARTS,
};
const FUNCTION_NAMES: readonly string[] = [...DATE_PARTS, 'count', 'json'];

/** Parses a function of a field (conventions, "Functions"); INVALID_QUERY when it does not fit the type of the field. */
export function parseFieldFunction(
  context: QueryParseContext,
  field: Field,
  { name, path }: NonNullable<FieldPathStep['fn']>,
  at: QueryErrorPath,
): FieldFunction {
  if (!FUNCTION_NAMES.includes(name))
    throw createInvalidQueryFailure(
      `there is no function "${name.slice(0, 40)}"${renderNearestNameSuggestion(name, FUNCTION_NAMES)}`,
      at,
    );
  if (field.concealed) throw fail('FORBIDDEN', `${field.name} is concealed: there are no functions of it`);
  if ((name === 'json') !== path.length > 0)
    throw createInvalidQueryFailure(`${name} takes ${name === 'json' ? 'a field and a path' : 'one field'}`, at);
  if (name === 'count' && field.relation?.kind === 'many')
    return { name, to: resolveCollection(context, field.relation.to) };
  if (name === 'count' && field.type === 'json') return { name };
  if (name === 'json' && field.type === 'json') return { name, path };
  const part = PARTS[field.type]?.includes(name) ? DATE_PARTS.find((one) => one === name) : undefined;
  if (!part || field.column?.array)
    throw createInvalidQueryFailure(`${name} does not fit a field of type ${field.type}`, at);
  return { name: part };
}

/** Parses a field, or a function of one, in a condition, an order or a group. */
export function parseFieldReference(
  context: QueryParseContext,
  collection: Collection,
  step: string,
  at: QueryErrorPath,
): FieldReference {
  if (isNameOfVisibleField(context, collection, step)) return { field: resolveField(context, collection, step) };
  const name = parseFieldPathStep(step, at);
  const field = resolveField(context, collection, name.field);
  if (name.collection !== undefined)
    throw createInvalidQueryFailure(`${step.slice(0, 60)} names another collection, which is not supported here`, at);
  return name.fn ? { field, fn: parseFieldFunction(context, field, name.fn, at) } : { field };
}
