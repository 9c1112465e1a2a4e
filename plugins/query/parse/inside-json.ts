import type { Field, FieldType } from '../../schema/contract.ts';
import { type FieldUse, OPERATORS, type Operator, type Where } from '../contract.ts';
import { all, EVERYTHING } from './conjunction.ts';
import { jsonPath } from './names.ts';
import { isNull, operands } from './operand.ts';
import { operatorsOf } from './operators.ts';
import { type Scope, spend } from './scope.ts';
import { fromJson, invalid, isObject, type Path } from './shape.ts';

const KNOWN: ReadonlySet<string> = new Set(OPERATORS);
const ORDERED: ReadonlySet<string> = new Set(['_lt', '_lte', '_gt', '_gte', '_between', '_nbetween']);
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

/** `_json: { "a.b[0]": { _eq: 1 } }`: what lies inside a JSON value; a number in the operand compares as a number. */
export function insideJson(scope: Scope, use: FieldUse, raw: unknown, path: Path): Where {
  const { field } = use;
  if (use.fn || field.type !== 'json' || field.concealed || field.column?.array)
    throw invalid(`_json does not fit a field of type ${field.type}`, path);
  const rules = fromJson(raw, path);
  if (!isObject(rules)) throw invalid('must be an object of paths', path);
  return all(
    Object.entries(rules).map(([key, rule]) => {
      const at = [...path, key];
      spend(scope, at);
      if (key === '_and' || key === '_or') {
        if (!Array.isArray(rule)) throw invalid('must be a list', at);
        const of = rule.map((one, index) => insideJson(scope, use, one, [...at, index]));
        return key === '_and' || of.length === 0 ? all(of) : { kind: 'either', of };
      }
      const steps = jsonPath(key, at);
      const tests = isObject(rule) ? rule : { _eq: rule };
      return all(
        Object.entries(tests).map(([operator, value]) => one(scope, use, steps, operator, value, [...at, operator])),
      );
    }),
  );
}

function one(scope: Scope, use: FieldUse, steps: readonly string[], name: string, raw: unknown, path: Path): Where {
  if (!KNOWN.has(name)) throw invalid(`"${name.slice(0, 40)}" is not an operator`, path);
  if ((name === '_eq' || name === '_neq') && isNull(raw))
    return one(scope, use, steps, name === '_eq' ? '_null' : '_nnull', true, path);
  const operator = name as Operator;
  const as = kindOf(operator, raw);
  const stand = { field: standIn(use.field, as) };
  if (!operatorsOf(stand).has(operator)) throw invalid(`${operator} does not fit a ${as}`, path);
  const values = operands(scope, stand, operator, raw, path);
  return values ? { kind: 'inside', use, path: steps, as, operator, values } : EVERYTHING;
}

function kindOf(operator: Operator, raw: unknown): 'text' | 'number' | 'boolean' {
  const list = Array.isArray(raw) ? raw : [raw];
  const isNumber = (one: unknown) =>
    typeof one === 'number' || (ORDERED.has(operator) && typeof one === 'string' && NUMBER.test(one));
  if (list.length > 0 && list.every(isNumber)) return 'number';
  return (operator === '_eq' || operator === '_neq') && typeof raw === 'boolean' ? 'boolean' : 'text';
}

const TYPES = { text: 'unknown', number: 'decimal', boolean: 'boolean' } as const satisfies Record<string, FieldType>;

/** What operators and operands are checked against: the value inside has no field of its own. */
const standIn = (field: Field, as: keyof typeof TYPES): Field => ({
  ...field,
  type: TYPES[as],
  column: null,
  relation: null,
});
