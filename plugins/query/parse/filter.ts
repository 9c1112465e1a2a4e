import { fail } from '#kernel';
import type { Collection, Field } from '../../schema/contract.ts';
import { OPERATORS, type Operator, type Where } from '../contract.ts';
import { isNull, operands } from './operand.ts';
import { operatorsOf } from './operators.ts';
import { collectionNamed, knownField, type Scope, spend } from './scope.ts';
import { fromJson, invalid, isObject, type Path } from './shape.ts';

export const EVERYTHING: Where = { kind: 'all', of: [] };
const KNOWN: ReadonlySet<string> = new Set(OPERATORS);

/** The conjunction of conditions, flattened. */
export function all(conditions: readonly Where[]): Where {
  const flat = conditions.flatMap((one) => (one.kind === 'all' ? one.of : [one]));
  return flat.length === 1 ? (flat[0] as Where) : { kind: 'all', of: flat };
}

/** A filter (specification rule 7; grammar in the conventions): JSON text or object. Absent matches everything. */
export function parseFilter(scope: Scope, collection: Collection, raw: unknown, path: Path): Where {
  const filter = fromJson(raw, path);
  if (filter === undefined || filter === null) return EVERYTHING;
  return group(scope, collection, filter, path, 0);
}

function group(scope: Scope, collection: Collection, raw: unknown, path: Path, depth: number): Where {
  if (!isObject(raw)) throw invalid('must be an object', path);
  return all(
    Object.entries(raw).map(([key, rule]) => {
      const at = [...path, key];
      spend(scope, at, depth);
      if (key === '_and' || key === '_or')
        return logic(key, rule, at, (one, here) => group(scope, collection, one, here, depth));
      if (key.startsWith('_')) throw invalid(`"${key.slice(0, 40)}" is not a field or a logical operator`, at);
      return ruleOf(scope, knownField(scope, collection, key), rule, at, depth);
    }),
  );
}

function logic(key: '_and' | '_or', raw: unknown, path: Path, each: (one: unknown, path: Path) => Where): Where {
  const list = Array.isArray(raw) ? raw : isObject(raw) ? Object.values(raw) : undefined;
  if (!list) throw invalid('must be a list of filters', path);
  const of = list.map((one, at) => each(one, [...path, at]));
  // An empty list says nothing, so it matches everything.
  return key === '_and' || of.length === 0 ? all(of) : { kind: 'either', of };
}

/** What stands behind a field name: a bare value, operators, or a filter on what the field leads to. */
function ruleOf(scope: Scope, field: Field, raw: unknown, path: Path, depth: number): Where {
  if (raw === null) return test(scope, field, '_null', true, path);
  if (Array.isArray(raw)) throw invalid('must be a value, operators or a nested filter', path);
  if (!isObject(raw)) return test(scope, field, '_eq', raw, path);
  const conditions: Where[] = [];
  const nested: [string, unknown][] = [];
  for (const [key, value] of Object.entries(raw)) {
    const at = [...path, key];
    spend(scope, at, depth);
    if (KNOWN.has(key)) conditions.push(test(scope, field, key as Operator, value, at));
    else if (key === '_some' || key === '_none') conditions.push(quantified(scope, field, key, value, at, depth));
    else if ((key === '_and' || key === '_or') && !(field.relation && leads(value))) {
      conditions.push(logic(key, value, at, (one, here) => ruleOf(scope, field, one, here, depth)));
    } else nested.push([key, value]);
  }
  if (nested.length > 0) conditions.push(throughRelation(scope, field, Object.fromEntries(nested), path, depth + 1));
  return all(conditions);
}

/** Does a list under `_and`/`_or` speak of the related rows' fields rather than of this field's own value? */
const leads = (list: unknown): boolean =>
  (Array.isArray(list) ? list : isObject(list) ? Object.values(list) : []).some(
    (one) => isObject(one) && Object.keys(one).some((key) => !KNOWN.has(key)),
  );

function throughRelation(scope: Scope, field: Field, raw: object, path: Path, depth: number): Where {
  const { relation } = field;
  const first = Object.keys(raw)[0] ?? '';
  if (relation?.kind !== 'one' && relation?.kind !== 'many') {
    if (relation?.kind === 'any') throw invalid('many-to-any is not supported yet', path);
    throw first.startsWith('_')
      ? invalid(`"${first.slice(0, 40)}" is not an operator`, [...path, first])
      : fail('FORBIDDEN', `${field.name} leads nowhere`);
  }
  const to = collectionNamed(scope, relation.to);
  const where = group(scope, to, raw, path, depth);
  return relation.kind === 'one'
    ? { kind: 'one', use: { field }, to, where }
    : { kind: 'many', use: { field }, to, quantifier: 'some', where };
}

function quantified(
  scope: Scope,
  field: Field,
  key: '_some' | '_none',
  raw: unknown,
  path: Path,
  depth: number,
): Where {
  if (field.relation?.kind !== 'many') throw invalid(`${key} is for to-many fields`, path);
  const to = collectionNamed(scope, field.relation.to);
  const where = group(scope, to, raw, path, depth + 1);
  return { kind: 'many', use: { field }, to, quantifier: key === '_some' ? 'some' : 'none', where };
}

function test(scope: Scope, field: Field, operator: Operator, raw: unknown, path: Path): Where {
  if (field.relation?.kind === 'many') return testOfAlias(scope, field, operator, raw, path);
  if (!operatorsOf(field).has(operator)) throw invalid(`${operator} does not fit a field of type ${field.type}`, path);
  if (operator === '_eq' && isNull(raw)) return test(scope, field, '_null', true, path);
  if (operator === '_neq' && isNull(raw)) return test(scope, field, '_nnull', true, path);
  const values = operands(scope, field, operator, raw, path);
  return values ? { kind: 'test', use: { field }, operator, values } : EVERYTHING;
}

/** An operator on a to-many alias itself speaks of the related keys; `_null` asks whether there are none. */
function testOfAlias(scope: Scope, field: Field, operator: Operator, raw: unknown, path: Path): Where {
  const to = collectionNamed(scope, (field.relation as { to: string }).to);
  const key = to.primary ? to.fields.get(to.primary) : undefined;
  if (!key) throw invalid(`${to.name} has no key to compare`, path);
  if (operator === '_null' || operator === '_nnull') {
    const [wanted] = operands(scope, key, operator, raw, path) ?? [];
    const none = (operator === '_null') === wanted;
    return { kind: 'many', use: { field }, to, quantifier: none ? 'none' : 'some', where: EVERYTHING };
  }
  return { kind: 'many', use: { field }, to, quantifier: 'some', where: test(scope, key, operator, raw, path) };
}
