import type { Collection } from '../../schema/contract.ts';
import type { DynamicValue, ValuePath, ValuePathStep } from '../contract.ts';
import { parseNow } from '../now.ts';
import { type ParseContext, resolveCollection, resolveField } from './parse-context.ts';
import { invalidQuery, type QueryPath } from './raw-values.ts';

/** Parses `$NOW`, `$NOW(-7 days)`, `$CURRENT_USER`, `$CURRENT_ROLE` and paths behind the latter two; undefined for other texts. */
export function parseDynamicValue(context: ParseContext, text: string, path: QueryPath): DynamicValue | undefined {
  const moment = parseNow(text);
  if (moment) return { dynamic: 'now', ...moment };
  const who = /^\$CURRENT_(USER|ROLE)(?:\.(.+))?$/.exec(text);
  if (!who) return undefined;
  const dynamic = who[1] === 'USER' ? 'user' : 'role';
  if (!who[2]) return { dynamic };
  const start = resolveCollection(context, dynamic === 'user' ? 'platform_users' : 'platform_roles');
  return { dynamic, path: parseValuePath(context, start, who[2].split('.'), path) };
}

/** A permission rule may read every field of the path; in a caller's own query `access` checks each field. */
function parseValuePath(
  context: ParseContext,
  start: Collection,
  names: readonly string[],
  path: QueryPath,
): ValuePath {
  const noSuchValue = () => invalidQuery(`${names.join('.').slice(0, 60)} is not a value to compare with`, path);
  let at: Collection | undefined = start;
  const steps = names.map((name, place): ValuePathStep => {
    if (!at) throw noSuchValue();
    if (context.trusted && !at.fields.has(name)) throw noSuchValue();
    const field = resolveField(context, at, name);
    const { relation } = field;
    const isLast = place === names.length - 1;
    at = undefined;
    if (isLast && relation?.kind !== 'many') {
      if (!field.column || (field.concealed && !context.trusted)) throw noSuchValue();
      return { use: { field } };
    }
    if (relation?.kind !== 'one' && relation?.kind !== 'many') throw noSuchValue();
    at = resolveCollection(context, relation.to);
    return { use: { field }, to: at };
  });
  // A to-many alias at the end of a path stands for the keys of its rows.
  const key = at?.primary ? at.fields.get(at.primary) : undefined;
  if (at && !key) throw noSuchValue();
  const several = steps.some(({ use }) => use.field.relation?.kind === 'many' && !use.field.column);
  return { start, steps: key ? [...steps, { use: { field: key } }] : steps, isMultiValued: several };
}
