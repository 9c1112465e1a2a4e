import { fail } from '#kernel';
import type { Collection, Field } from '../../schema/contract.ts';
import { type FieldUse, OPERATORS, type Operator, type Where } from '../contract.ts';
import { all, EVERYTHING } from './conjunction.ts';
import { followed, isFollow } from './follow.ts';
import { useOf } from './functions.ts';
import { insideJson } from './inside-json.ts';
import { nameOf, stepsOf } from './names.ts';
import { isNull, operands } from './operand.ts';
import { operatorsOf } from './operators.ts';
import { collectionNamed, isField, knownField, type Scope, spend } from './scope.ts';
import { fromJson, hintOf, invalid, isObject, type Path } from './shape.ts';

const KNOWN: ReadonlySet<string> = new Set(OPERATORS);
const LOGICAL = ['_and', '_or'];

/** A filter (specification rule 7; grammar in the conventions): JSON text or object. Absent matches everything. */
export function parseFilter(scope: Scope, collection: Collection, raw: unknown, path: Path): Where {
  const filter = fromJson(raw, path);
  if (filter === undefined || filter === null) return EVERYTHING;
  return group(scope, collection, filter, path);
}

function group(scope: Scope, collection: Collection, raw: unknown, path: Path): Where {
  if (!isObject(raw)) throw invalid('must be an object', path);
  return all(
    Object.entries(raw).map(([key, rule]) => {
      const at = [...path, key];
      spend(scope, at);
      if (key === '_and' || key === '_or')
        return logic(key, rule, at, (one, here) => group(scope, collection, one, here));
      // A column's name may begin like an operator does.
      if (key.startsWith('_') && !isField(scope, collection, key))
        throw invalid(`"${key.slice(0, 40)}" is not a field or a logical operator${hintOf(key, LOGICAL)}`, at);
      return keyed(scope, collection, key, rule, at);
    }),
  );
}

/** What stands under a field, a function of one, one target of a many-to-any, or a relation followed backwards. */
function keyed(scope: Scope, collection: Collection, key: string, rule: unknown, at: Path): Where {
  if (isFollow(key)) return ruleOf(scope, followed(scope, collection, key, at), rule, at);
  if (key.includes('(') && !isField(scope, collection, key)) {
    const [first = '', ...rest] = stepsOf(key, at);
    // `year(author.born)` is what `author: { year(born) }` is.
    if (rest.length > 0) return keyed(scope, collection, first, { [rest.join('.')]: rule }, at);
    const use = useOf(scope, collection, first, at);
    if (use.fn?.name === 'json') throw invalid('json(…) is for fields and sort; filter with _json', at);
    return ruleOf(scope, use, rule, at);
  }
  if (key.includes(':') && !isField(scope, collection, key)) return throughAny(scope, collection, key, rule, at);
  return ruleOf(scope, { field: knownField(scope, collection, key) }, rule, at);
}

function logic(key: '_and' | '_or', raw: unknown, path: Path, each: (one: unknown, path: Path) => Where): Where {
  const list = Array.isArray(raw) ? raw : isObject(raw) ? Object.values(raw) : undefined;
  if (!list) throw invalid('must be a list of filters', path);
  const of = list.map((one, at) => each(one, [...path, at]));
  // An empty list says nothing, so it matches everything.
  return key === '_and' || of.length === 0 ? all(of) : { kind: 'either', of };
}

/** What stands behind a name: a bare value, operators, or a filter on what the field leads to. */
function ruleOf(scope: Scope, use: FieldUse, raw: unknown, path: Path): Where {
  const { field } = use;
  if (raw === null) return test(scope, use, '_null', true, path);
  if (Array.isArray(raw)) throw invalid('must be a value, operators or a nested filter', path);
  if (!isObject(raw)) return test(scope, use, '_eq', raw, path);
  const conditions: Where[] = [];
  const nested: [string, unknown][] = [];
  for (const [key, value] of Object.entries(raw)) {
    const at = [...path, key];
    spend(scope, at);
    if (KNOWN.has(key)) conditions.push(test(scope, use, key as Operator, value, at));
    else if (key === '_some' || key === '_none') conditions.push(quantified(scope, use, key, value, at));
    else if (key === '_json') conditions.push(insideJson(scope, use, value, at));
    else if ((key === '_and' || key === '_or') && !(field.relation && leads(value))) {
      conditions.push(logic(key, value, at, (one, here) => ruleOf(scope, use, one, here)));
    } else nested.push([key, value]);
  }
  if (nested.length > 0) conditions.push(throughRelation(scope, use, Object.fromEntries(nested), path));
  return all(conditions);
}

/** Does a list under `_and`/`_or` speak of the related rows' fields rather than of this field's own value? */
const leads = (list: unknown): boolean =>
  (Array.isArray(list) ? list : isObject(list) ? Object.values(list) : []).some(
    (one) => isObject(one) && Object.keys(one).some((key) => !KNOWN.has(key)),
  );

function throughRelation(scope: Scope, use: FieldUse, raw: object, path: Path): Where {
  const { relation, name } = use.field;
  const first = Object.keys(raw)[0] ?? '';
  if (use.fn || !relation) {
    throw first.startsWith('_')
      ? invalid(`"${first.slice(0, 40)}" is not an operator${hintOf(first, KNOWN)}`, [...path, first])
      : fail('FORBIDDEN', `${name} leads nowhere`);
  }
  if (relation.kind === 'any') throw invalid(`needs a collection: ${name}:<collection>`, path);
  const to = collectionNamed(scope, relation.to);
  const where = group(scope, to, raw, path);
  return relation.kind === 'one'
    ? { kind: 'one', use, to, where }
    : { kind: 'many', use, to, quantifier: 'some', where };
}

/** `item:headings`: the rows whose many-to-any leads to a row of that collection for which the filter holds. */
function throughAny(scope: Scope, collection: Collection, key: string, raw: unknown, at: Path): Where {
  const { field: name, collection: only = '' } = nameOf(key, at);
  const field = knownField(scope, collection, name);
  const { relation } = field;
  if (relation?.kind !== 'any') throw invalid(`${name} is no many-to-any`, at);
  const by = collection.fields.get(relation.by);
  if (!relation.allowed.includes(only) || !by) throw fail('FORBIDDEN', `${name} does not lead to ${only}`);
  const to = collectionNamed(scope, only);
  return { kind: 'any', use: { field }, by, to, where: group(scope, to, raw, at) };
}

function quantified(scope: Scope, use: FieldUse, key: '_some' | '_none', raw: unknown, path: Path): Where {
  const { relation } = use.field;
  if (use.fn || relation?.kind !== 'many') throw invalid(`${key} is for to-many fields`, path);
  const to = collectionNamed(scope, relation.to);
  const where = group(scope, to, raw, path);
  return { kind: 'many', use, to, quantifier: key === '_some' ? 'some' : 'none', own: true, where };
}

function test(scope: Scope, use: FieldUse, operator: Operator, raw: unknown, path: Path): Where {
  if (!use.fn && use.field.relation?.kind === 'many') return testOfAlias(scope, use, operator, raw, path);
  if (!operatorsOf(use).has(operator))
    throw invalid(
      `${operator} does not fit ${use.fn ? `what ${use.fn.name} gives` : use.field.column?.array ? 'an array' : `a field of type ${use.field.type}`}`,
      path,
    );
  if (operator === '_eq' && isNull(raw)) return test(scope, use, '_null', true, path);
  if (operator === '_neq' && isNull(raw)) return test(scope, use, '_nnull', true, path);
  const values = operands(scope, use, operator, raw, path);
  return values ? { kind: 'test', use, operator, values } : EVERYTHING;
}

/** An operator on a to-many alias itself speaks of the related keys; `_null` asks whether there are none. */
function testOfAlias(scope: Scope, use: FieldUse, operator: Operator, raw: unknown, path: Path): Where {
  const to = collectionNamed(scope, (use.field.relation as { to: string }).to);
  const key: Field | null = to.hasKey ? to.key : null;
  if (!key) throw invalid(`${to.name} has no key to compare`, path);
  if (operator === '_null' || operator === '_nnull') {
    const [wanted] = operands(scope, { field: key }, operator, raw, path) ?? [];
    const none = (operator === '_null') === wanted;
    return { kind: 'many', use, to, quantifier: none ? 'none' : 'some', own: true, where: EVERYTHING };
  }
  return { kind: 'many', use, to, quantifier: 'some', where: test(scope, { field: key }, operator, raw, path) };
}
