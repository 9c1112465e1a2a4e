import type { Collection } from '../../schema/contract.ts';
import type { DynamicValue, DynamicValuePath, DynamicValuePathStep } from '../contract.ts';
import { parseNowExpression } from '../now-dynamic-value.ts';
import { type QueryParseContext, resolveCollection, resolveField } from './parse-context.ts';
import { createInvalidQueryFailure, type QueryErrorPath } from './raw-values.ts';

/** Parses `$NOW`, `$NOW(-7 days)`, `$CURRENT_USER`, `$CURRENT_ROLE` and paths behind the latter two; undefined for other texts. */
export function parseDynamicValue(
  context: QueryParseContext,
  text: string,
  path: QueryErrorPath,
): DynamicValue | undefined {
  const moment = parseNowExpression(text);
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
  context: QueryParseContext,
  start: Collection,
  names: readonly string[],
  path: QueryErrorPath,
): DynamicValuePath {
  const noSuchValue = () =>
    createInvalidQueryFailure(`${names.join('.').slice(0, 60)} is not a value to compare with`, path);
  let at: Collection | undefined = start;
  const steps = names.map((name, place): DynamicValuePathStep => {
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
