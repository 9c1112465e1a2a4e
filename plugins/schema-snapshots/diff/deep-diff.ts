import { isDeepStrictEqual } from 'node:util';
import type { Difference } from '../contract.ts';

type Path = readonly (string | number)[];
type Members = Record<string, unknown>;

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The differences that turn one value of JSON into another, in the form of the conventions ("Diff and apply"). */
export function deepDiff(lhs: unknown, rhs: unknown, path: Path = []): readonly Difference[] {
  const at = path.length > 0 ? { path } : {};
  if (lhs === undefined) return rhs === undefined ? [] : [{ kind: 'N', ...at, rhs }];
  if (rhs === undefined) return [{ kind: 'D', ...at, lhs }];
  if (Array.isArray(lhs) && Array.isArray(rhs)) return diffLists(lhs, rhs, path);
  if (isTree(lhs) && isTree(rhs) && !Array.isArray(lhs) && !Array.isArray(rhs)) {
    const names = new Set([...Object.keys(lhs), ...Object.keys(rhs)]);
    return [...names].flatMap((name) => deepDiff(ownMember(lhs, name), ownMember(rhs, name), [...path, name]));
  }
  return isDeepStrictEqual(lhs, rhs) ? [] : [{ kind: 'E', ...at, lhs, rhs }];
}

/** Surplus elements come first, from the end, so that applying them in order keeps the positions of the others. */
function diffLists(lhs: readonly unknown[], rhs: readonly unknown[], path: Path): readonly Difference[] {
  const shared = Math.min(lhs.length, rhs.length);
  const surplus = Array.from({ length: Math.max(lhs.length, rhs.length) - shared }, (_, at): Difference => {
    const index = Math.max(lhs.length, rhs.length) - 1 - at;
    const item: Difference = lhs.length > shared ? { kind: 'D', lhs: lhs[index] } : { kind: 'N', rhs: rhs[index] };
    return { kind: 'A', ...(path.length > 0 ? { path } : {}), index, item };
  });
  return [...surplus, ...lhs.slice(0, shared).flatMap((one, at) => deepDiff(one, rhs[at], [...path, at]))];
}

const ownMember = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? (value as Members)[name] : undefined;

/** Applies differences to a copy of a value. Undefined where the whole value is deleted. @throws RangeError for a path that does not exist */
export function applyDifferences(value: unknown, differences: readonly Difference[]): unknown {
  const root: Members = { value: structuredClone(value) };
  for (const difference of differences) applyOne(root, ['value', ...(difference.path ?? [])], difference);
  return root.value;
}

function applyOne(root: Members, path: Path, { kind, rhs, index, item }: Difference): void {
  let holder: unknown = root;
  for (const name of path.slice(0, -1)) holder = memberOf(holder, name);
  if (!isTree(holder)) throw new RangeError(`nothing is at ${path.slice(1).join('.')}`);
  const last = path.at(-1) as string | number;
  if (kind === 'A') {
    const list = memberOf(holder, last);
    if (!Array.isArray(list) || index === undefined || !item)
      throw new RangeError(`no list is at ${path.slice(1).join('.')}`);
    if (item.kind === 'D') list.splice(index, 1);
    else list[index] = item.rhs;
  } else if (kind === 'D') {
    if (Array.isArray(holder)) holder.splice(Number(last), 1);
    else delete (holder as Members)[last];
  } else setMember(holder, last, rhs);
}

function memberOf(holder: unknown, name: string | number): unknown {
  if (!isTree(holder) || !Object.hasOwn(holder, name)) throw new RangeError(`nothing is at ${String(name)}`);
  return (holder as Members)[name];
}

/** Defines the member, so that `__proto__` is a name as any other. */
const setMember = (holder: object, name: string | number, value: unknown): void =>
  void Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true });
