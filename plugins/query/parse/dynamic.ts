import type { Collection, Field } from '../../schema/contract.ts';
import type { Dynamic } from '../contract.ts';
import { parseMoment } from '../moment.ts';
import { collectionNamed, type Scope } from './scope.ts';
import { invalid, type Path } from './shape.ts';

/** `$NOW`, `$NOW(-7 days)`, `$CURRENT_USER`, `$CURRENT_ROLE` and, in rules, paths after the latter two. */
export function dynamicValue(scope: Scope, text: string, path: Path): Dynamic | undefined {
  const moment = parseMoment(text);
  if (moment) return { dynamic: 'now', ...moment };
  const who = /^\$CURRENT_(USER|ROLE)(?:\.(.+))?$/.exec(text);
  if (!who) return undefined;
  const dynamic = who[1] === 'USER' ? 'user' : 'role';
  if (!who[2]) return { dynamic };
  if (!scope.trusted) throw invalid('a path after $CURRENT_USER or $CURRENT_ROLE is for permission rules only', path);
  const start = collectionNamed(scope, dynamic === 'user' ? 'platform_users' : 'platform_roles');
  return { dynamic, via: { start, path: follow(scope, start, who[2].split('.'), path) } };
}

function follow(scope: Scope, start: Collection, names: readonly string[], path: Path): readonly Field[] {
  let at: Collection | undefined = start;
  return names.map((name) => {
    const field: Field | undefined = at?.fields.get(name);
    if (!field?.column) throw invalid(`there is no value ${names.join('.')} to compare with`, path);
    at = field.relation?.kind === 'one' ? collectionNamed(scope, field.relation.to) : undefined;
    return field;
  });
}
