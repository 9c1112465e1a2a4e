import type { Collection } from '../../schema/contract.ts';
import type { Dynamic, Via, ViaStep } from '../contract.ts';
import { parseMoment } from '../moment.ts';
import { collectionNamed, knownField, type Scope } from './scope.ts';
import { invalid, type Path } from './shape.ts';

/** `$NOW`, `$NOW(-7 days)`, `$CURRENT_USER`, `$CURRENT_ROLE` and paths after the latter two. */
export function dynamicValue(scope: Scope, text: string, path: Path): Dynamic | undefined {
  const moment = parseMoment(text);
  if (moment) return { dynamic: 'now', ...moment };
  const who = /^\$CURRENT_(USER|ROLE)(?:\.(.+))?$/.exec(text);
  if (!who) return undefined;
  const dynamic = who[1] === 'USER' ? 'user' : 'role';
  if (!who[2]) return { dynamic };
  const start = collectionNamed(scope, dynamic === 'user' ? 'platform_users' : 'platform_roles');
  return { dynamic, via: follow(scope, start, who[2].split('.'), path) };
}

/** A rule goes its way with the system's rights; what a caller's own query may see on the way is for `access` to say. */
function follow(scope: Scope, start: Collection, names: readonly string[], path: Path): Via {
  const nowhere = () => invalid(`there is no value ${names.join('.').slice(0, 60)} to compare with`, path);
  let at: Collection | undefined = start;
  const steps = names.map((name, place): ViaStep => {
    if (!at) throw nowhere();
    if (scope.trusted && !at.fields.has(name)) throw nowhere();
    const field = knownField(scope, at, name);
    const { relation } = field;
    const isLast = place === names.length - 1;
    at = undefined;
    if (isLast && relation?.kind !== 'many') {
      if (!field.column || (field.concealed && !scope.trusted)) throw nowhere();
      return { use: { field } };
    }
    if (relation?.kind !== 'one' && relation?.kind !== 'many') throw nowhere();
    at = collectionNamed(scope, relation.to);
    return { use: { field }, to: at };
  });
  // An alias at the end stands for the keys of its rows.
  const key = at?.primary ? at.fields.get(at.primary) : undefined;
  if (at && !key) throw nowhere();
  const several = steps.some(({ use }) => use.field.relation?.kind === 'many' && !use.field.column);
  return { start, path: key ? [...steps, { use: { field: key } }] : steps, several };
}
