import { fail } from '#kernel';
import type { Collection, Field } from '../../schema/contract.ts';
import { type ConditionTree, FILTER_OPERATORS, type FieldReference, type FilterOperator } from '../contract.ts';
import { buildConjunction, MATCH_ALL } from './conjunction.ts';
import { isFollowFilterKey, parseFollowFilterKey } from './follow-filter-key.ts';
import { parseFieldReference } from './functions.ts';
import { parseJsonFilter } from './json-filter.ts';
import { isNullOperand, parseOperands } from './operand.ts';
import { filterOperatorsOfFieldReference } from './operators-by-field-type.ts';
import {
  countQueryPart,
  isNameOfVisibleField,
  type QueryParseContext,
  resolveCollection,
  resolveField,
} from './parse-context.ts';
import { parseFieldPathStep, splitFieldPath } from './path-steps.ts';
import {
  createInvalidQueryFailure,
  isObject,
  parseJsonParameter,
  type QueryErrorPath,
  renderNearestNameSuggestion,
} from './raw-values.ts';

const KNOWN: ReadonlySet<string> = new Set(FILTER_OPERATORS);
const LOGICAL = ['_and', '_or'];

/** Parses a filter (specification rule 7; grammar in the conventions) from JSON text or an object. No filter matches every row. */
export function parseFilter(
  context: QueryParseContext,
  collection: Collection,
  raw: unknown,
  path: QueryErrorPath,
): ConditionTree {
  const filter = parseJsonParameter(raw, path);
  if (filter === undefined || filter === null) return MATCH_ALL;
  return parseFilterObject(context, collection, filter, path);
}

function parseFilterObject(
  context: QueryParseContext,
  collection: Collection,
  raw: unknown,
  path: QueryErrorPath,
): ConditionTree {
  if (!isObject(raw)) throw createInvalidQueryFailure('must be an object', path);
  return buildConjunction(
    Object.entries(raw).map(([key, rule]) => {
      const at = [...path, key];
      countQueryPart(context, at);
      if (key === '_and' || key === '_or')
        return parseLogical(key, rule, at, (one, here) => parseFilterObject(context, collection, one, here));
      // A column name may begin with an underscore.
      if (key.startsWith('_') && !isNameOfVisibleField(context, collection, key))
        throw createInvalidQueryFailure(
          `"${key.slice(0, 40)}" is not a field or a logical operator${renderNearestNameSuggestion(key, LOGICAL)}`,
          at,
        );
      return parseFilterKey(context, collection, key, rule, at);
    }),
  );
}

/** Parses the condition under a key: a field, a function of a field, a collection of a many-to-any, or `$FOLLOW`. */
function parseFilterKey(
  context: QueryParseContext,
  collection: Collection,
  key: string,
  rule: unknown,
  at: QueryErrorPath,
): ConditionTree {
  if (isFollowFilterKey(key))
    return parseFieldCondition(context, parseFollowFilterKey(context, collection, key, at), rule, at);
  if (key.includes('(') && !isNameOfVisibleField(context, collection, key)) {
    const [first = '', ...rest] = splitFieldPath(key, at);
    // `year(author.born)` means `author: { year(born) }`.
    if (rest.length > 0) return parseFilterKey(context, collection, first, { [rest.join('.')]: rule }, at);
    const use = parseFieldReference(context, collection, first, at);
    if (use.fn?.name === 'json')
      throw createInvalidQueryFailure('json(…) is for fields and sort; filter with _json', at);
    return parseFieldCondition(context, use, rule, at);
  }
  if (key.includes(':') && !isNameOfVisibleField(context, collection, key))
    return parseManyToAnyFilter(context, collection, key, rule, at);
  return parseFieldCondition(context, { field: resolveField(context, collection, key) }, rule, at);
}

function parseLogical(
  key: '_and' | '_or',
  raw: unknown,
  path: QueryErrorPath,
  each: (one: unknown, path: QueryErrorPath) => ConditionTree,
): ConditionTree {
  const list = Array.isArray(raw) ? raw : isObject(raw) ? Object.values(raw) : undefined;
  if (!list) throw createInvalidQueryFailure('must be a list of filters', path);
  const of = list.map((one, at) => each(one, [...path, at]));
  // An empty list matches every row.
  return key === '_and' || of.length === 0 ? buildConjunction(of) : { kind: 'or', of };
}

/** Parses the condition of a field: a bare value, operators, or a filter on related rows. */
function parseFieldCondition(
  context: QueryParseContext,
  use: FieldReference,
  raw: unknown,
  path: QueryErrorPath,
): ConditionTree {
  const { field } = use;
  if (raw === null) return parseTest(context, use, '_null', true, path);
  if (Array.isArray(raw)) throw createInvalidQueryFailure('must be a value, operators or a nested filter', path);
  if (!isObject(raw)) return parseTest(context, use, '_eq', raw, path);
  const conditions: ConditionTree[] = [];
  const nested: [string, unknown][] = [];
  for (const [key, value] of Object.entries(raw)) {
    const at = [...path, key];
    countQueryPart(context, at);
    if (KNOWN.has(key)) conditions.push(parseTest(context, use, key as FilterOperator, value, at));
    else if (key === '_some' || key === '_none') conditions.push(parseQuantified(context, use, key, value, at));
    else if (key === '_json') conditions.push(parseJsonFilter(context, use, value, at));
    else if ((key === '_and' || key === '_or') && !(field.relation && isAboutRelatedFields(value))) {
      conditions.push(parseLogical(key, value, at, (one, here) => parseFieldCondition(context, use, one, here)));
    } else nested.push([key, value]);
  }
  if (nested.length > 0) conditions.push(parseRelationFilter(context, use, Object.fromEntries(nested), path));
  return buildConjunction(conditions);
}

/** Whether a list under `_and` or `_or` is about fields of the related rows instead of the value of this field. */
const isAboutRelatedFields = (list: unknown): boolean =>
  (Array.isArray(list) ? list : isObject(list) ? Object.values(list) : []).some(
    (one) => isObject(one) && Object.keys(one).some((key) => !KNOWN.has(key)),
  );

function parseRelationFilter(
  context: QueryParseContext,
  use: FieldReference,
  raw: object,
  path: QueryErrorPath,
): ConditionTree {
  const { relation, name } = use.field;
  const first = Object.keys(raw)[0] ?? '';
  if (use.fn || !relation) {
    throw first.startsWith('_')
      ? createInvalidQueryFailure(
          `"${first.slice(0, 40)}" is not an operator${renderNearestNameSuggestion(first, KNOWN)}`,
          [...path, first],
        )
      : fail('FORBIDDEN', `${name} has no relation to filter by`);
  }
  if (relation.kind === 'any') throw createInvalidQueryFailure(`needs a collection: ${name}:<collection>`, path);
  const to = resolveCollection(context, relation.to);
  const where = parseFilterObject(context, to, raw, path);
  return relation.kind === 'one'
    ? { kind: 'one', use, to, where }
    : { kind: 'many', use, to, quantifier: 'some', where };
}

/** Parses `item:headings`: a filter on the rows of one collection behind a many-to-any. */
function parseManyToAnyFilter(
  context: QueryParseContext,
  collection: Collection,
  key: string,
  raw: unknown,
  at: QueryErrorPath,
): ConditionTree {
  const { field: name, collection: only = '' } = parseFieldPathStep(key, at);
  const field = resolveField(context, collection, name);
  const { relation } = field;
  if (relation?.kind !== 'any') throw createInvalidQueryFailure(`${name} is not a many-to-any`, at);
  const by = collection.fields.get(relation.collectionField);
  if (!relation.allowedCollections.includes(only) || !by) throw fail('FORBIDDEN', `${name} does not lead to ${only}`);
  const to = resolveCollection(context, only);
  return { kind: 'any', use: { field }, by, to, where: parseFilterObject(context, to, raw, at) };
}

function parseQuantified(
  context: QueryParseContext,
  use: FieldReference,
  key: '_some' | '_none',
  raw: unknown,
  path: QueryErrorPath,
): ConditionTree {
  const { relation } = use.field;
  if (use.fn || relation?.kind !== 'many') throw createInvalidQueryFailure(`${key} is for to-many fields`, path);
  const to = resolveCollection(context, relation.to);
  const where = parseFilterObject(context, to, raw, path);
  return { kind: 'many', use, to, quantifier: key === '_some' ? 'some' : 'none', own: true, where };
}

function parseTest(
  context: QueryParseContext,
  use: FieldReference,
  operator: FilterOperator,
  raw: unknown,
  path: QueryErrorPath,
): ConditionTree {
  if (!use.fn && use.field.relation?.kind === 'many') return parseAliasTest(context, use, operator, raw, path);
  if (!filterOperatorsOfFieldReference(use).has(operator))
    throw createInvalidQueryFailure(
      `${operator} does not fit ${use.fn ? `what ${use.fn.name} gives` : use.field.column?.array ? 'an array' : `a field of type ${use.field.type}`}`,
      path,
    );
  if (operator === '_eq' && isNullOperand(raw)) return parseTest(context, use, '_null', true, path);
  if (operator === '_neq' && isNullOperand(raw)) return parseTest(context, use, '_nnull', true, path);
  const values = parseOperands(context, use, operator, raw, path);
  return values ? { kind: 'test', use, operator, values } : MATCH_ALL;
}

/** An operator on a to-many alias compares the related keys; `_null` holds when there are no related rows. */
function parseAliasTest(
  context: QueryParseContext,
  use: FieldReference,
  operator: FilterOperator,
  raw: unknown,
  path: QueryErrorPath,
): ConditionTree {
  const to = resolveCollection(context, (use.field.relation as { to: string }).to);
  const key: Field | null = to.hasKey ? to.key : null;
  if (!key) throw createInvalidQueryFailure(`${to.name} has no key to compare`, path);
  if (operator === '_null' || operator === '_nnull') {
    const [requested] = parseOperands(context, { field: key }, operator, raw, path) ?? [];
    const none = (operator === '_null') === requested;
    return { kind: 'many', use, to, quantifier: none ? 'none' : 'some', own: true, where: MATCH_ALL };
  }
  return { kind: 'many', use, to, quantifier: 'some', where: parseTest(context, { field: key }, operator, raw, path) };
}
