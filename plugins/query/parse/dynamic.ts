import type { Collection, Field } from '../../schema/contract.ts';
import type { Dynamic } from '../contract.ts';
import { collectionNamed, type Scope } from './scope.ts';
import { invalid, type Path } from './shape.ts';

const OFFSET = /^([+-]?\d+(?:\.\d+)?)\s*([a-z]*)$/i;
const MONTHS: Readonly<Record<string, number>> = { year: 12, years: 12, yr: 12, yrs: 12, y: 12, month: 1, months: 1, mth: 1, mo: 1 };
const MILLISECONDS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    [
      [604_800_000, 'weeks week w'],
      [86_400_000, 'days day d'],
      [3_600_000, 'hours hour hrs hr h'],
      [60_000, 'minutes minute min mins m'],
      [1000, 'seconds second sec secs s'],
      [1, 'milliseconds millisecond msec msecs ms'],
    ] as const
  ).flatMap(([length, names]) => names.split(' ').map((name) => [name, length])),
);

/** `$NOW`, `$NOW(-7 days)`, `$CURRENT_USER`, `$CURRENT_ROLE` and, in rules, paths after the latter two. */
export function dynamicValue(scope: Scope, text: string, path: Path): Dynamic | undefined {
  if (text === '$NOW') return { dynamic: 'now', offset: 0, months: 0 };
  const now = /^\$NOW\((.*)\)$/.exec(text);
  if (now) return { dynamic: 'now', ...adjustment((now[1] ?? '').trim()) };
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

/** An adjustment that cannot be read means no adjustment, as in the conventions. */
function adjustment(text: string): { offset: number; months: number } {
  const parts = OFFSET.exec(text);
  const amount = Number(parts?.[1] ?? 0);
  const unit = (parts?.[2] || 'days').toLowerCase();
  if (Object.hasOwn(MONTHS, unit)) return { offset: 0, months: Math.trunc(amount * (MONTHS[unit] ?? 0)) };
  return { offset: Object.hasOwn(MILLISECONDS, unit) ? amount * (MILLISECONDS[unit] ?? 0) : 0, months: 0 };
}
