import { fail } from '#kernel';
import type { Collection, Field, FieldType } from '../../schema/contract.ts';
import { DATE_PARTS, type FieldUse, type Fn } from '../contract.ts';
import { type Name, nameOf } from './names.ts';
import { collectionNamed, isField, knownField, type Scope } from './scope.ts';
import { hintOf, invalid, type Path } from './shape.ts';

const DAYS = ['year', 'month', 'week', 'day', 'weekday'];
const CLOCK = ['hour', 'minute', 'second'];
const PARTS: Partial<Readonly<Record<FieldType, readonly string[]>>> = {
  date: DAYS,
  time: CLOCK,
  dateTime: DATE_PARTS,
  timestamp: DATE_PARTS,
};
const ALL: readonly string[] = [...DATE_PARTS, 'count', 'json'];

/** A function of a field (conventions, "Functions"); INVALID_QUERY where it does not fit the field's type. */
export function fnOf(scope: Scope, field: Field, { name, path }: NonNullable<Name['fn']>, at: Path): Fn {
  if (!ALL.includes(name)) throw invalid(`there is no function "${name.slice(0, 40)}"${hintOf(name, ALL)}`, at);
  if (field.concealed) throw fail('FORBIDDEN', `${field.name} is concealed: there are no functions of it`);
  if ((name === 'json') !== path.length > 0)
    throw invalid(`${name} takes ${name === 'json' ? 'a field and a path' : 'one field'}`, at);
  if (name === 'count' && field.relation?.kind === 'many')
    return { name, to: collectionNamed(scope, field.relation.to) };
  if (name === 'count' && field.type === 'json') return { name };
  if (name === 'json' && field.type === 'json') return { name, path };
  const part = PARTS[field.type]?.includes(name) ? DATE_PARTS.find((one) => one === name) : undefined;
  if (!part || field.column?.array) throw invalid(`${name} does not fit a field of type ${field.type}`, at);
  return { name: part };
}

/** A field, or a function of one, that a condition, an order or a group speaks of. */
export function useOf(scope: Scope, collection: Collection, step: string, at: Path): FieldUse {
  if (isField(scope, collection, step)) return { field: knownField(scope, collection, step) };
  const name = nameOf(step, at);
  const field = knownField(scope, collection, name.field);
  if (name.collection !== undefined) throw invalid(`${step.slice(0, 60)} leads on to another collection`, at);
  return name.fn ? { field, fn: fnOf(scope, field, name.fn, at) } : { field };
}
