import type { Field, FieldType } from '../../schema/contract.ts';
import { type ConditionTree, FILTER_OPERATORS, type FieldReference, type FilterOperator } from '../contract.ts';
import { buildConjunction, MATCH_ALL } from './conjunction.ts';
import { isNullOperand, parseOperands } from './operand.ts';
import { filterOperatorsOfFieldReference } from './operators-by-field-type.ts';
import { countQueryPart, type QueryParseContext } from './parse-context.ts';
import { parseJsonPath } from './path-steps.ts';
import { createInvalidQueryFailure, isObject, parseJsonParameter, type QueryErrorPath } from './raw-values.ts';

const KNOWN: ReadonlySet<string> = new Set(FILTER_OPERATORS);
const ORDERED: ReadonlySet<string> = new Set(['_lt', '_lte', '_gt', '_gte', '_between', '_nbetween']);
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/** Parses `_json: { "a.b[0]": { _eq: 1 } }`: conditions on values inside a JSON column. A number as operand compares as a number. */
export function parseJsonFilter(
  context: QueryParseContext,
  use: FieldReference,
  raw: unknown,
  path: QueryErrorPath,
): ConditionTree {
  const { field } = use;
  if (use.fn || field.type !== 'json' || field.concealed || field.column?.array)
    throw createInvalidQueryFailure(`_json does not fit a field of type ${field.type}`, path);
  const rules = parseJsonParameter(raw, path);
  if (!isObject(rules)) throw createInvalidQueryFailure('must be an object of paths', path);
  return buildConjunction(
    Object.entries(rules).map(([key, rule]) => {
      const at = [...path, key];
      countQueryPart(context, at);
      if (key === '_and' || key === '_or') {
        if (!Array.isArray(rule)) throw createInvalidQueryFailure('must be a list', at);
        const of = rule.map((one, index) => parseJsonFilter(context, use, one, [...at, index]));
        return key === '_and' || of.length === 0 ? buildConjunction(of) : { kind: 'or', of };
      }
      const steps = parseJsonPath(key, at);
      const tests = isObject(rule) ? rule : { _eq: rule };
      return buildConjunction(
        Object.entries(tests).map(([operator, value]) =>
          parseJsonTest(context, use, steps, operator, value, [...at, operator]),
        ),
      );
    }),
  );
}

function parseJsonTest(
  context: QueryParseContext,
  use: FieldReference,
  steps: readonly string[],
  name: string,
  raw: unknown,
  path: QueryErrorPath,
): ConditionTree {
  if (!KNOWN.has(name)) throw createInvalidQueryFailure(`"${name.slice(0, 40)}" is not an operator`, path);
  if ((name === '_eq' || name === '_neq') && isNullOperand(raw))
    return parseJsonTest(context, use, steps, name === '_eq' ? '_null' : '_nnull', true, path);
  const operator = name as FilterOperator;
  const as = comparedTypeOf(operator, raw);
  const stand = { field: standInField(use.field, as) };
  if (!filterOperatorsOfFieldReference(stand).has(operator))
    throw createInvalidQueryFailure(`${operator} does not fit a ${as}`, path);
  const values = parseOperands(context, stand, operator, raw, path);
  return values ? { kind: 'inside', use, path: steps, as, operator, values } : MATCH_ALL;
}

function comparedTypeOf(operator: FilterOperator, raw: unknown): 'text' | 'number' | 'boolean' {
  const list = Array.isArray(raw) ? raw : [raw];
  const isNumber = (one: unknown) =>
    typeof one === 'number' || (ORDERED.has(operator) && typeof one === 'string' && NUMBER.test(one));
  if (list.length > 0 && list.every(isNumber)) return 'number';
  return (operator === '_eq' || operator === '_neq') && typeof raw === 'boolean' ? 'boolean' : 'text';
}

const TYPES = { text: 'unknown', number: 'decimal', boolean: 'boolean' } as const satisfies Record<string, FieldType>;

/** A field for checks of operators and operands, since a value inside a JSON column has none. */
const standInField = (field: Field, as: keyof typeof TYPES): Field => ({
  ...field,
  type: TYPES[as],
  column: null,
  relation: null,
});
