import type { Collection, Field } from '../../schema/contract.ts';
import { refuseAny, type Scope } from './scope.ts';
import { invalid, type Path, textList } from './shape.ts';

/** What was asked of one field: itself, what lies behind it, or both (then the nested form wins). */
export interface Wanted {
  readonly field: Field;
  readonly key: string;
  readonly nested: readonly string[] | null;
}

const MAX_ENTRIES = 2000;

/** `fields` as a list of paths; absent means `*`. */
export function parseFields(raw: unknown, path: Path): readonly string[] {
  const list = textList(raw, path);
  if (list.length > MAX_ENTRIES) throw invalid(`has more than ${MAX_ENTRIES} entries`, path);
  for (const entry of list) {
    if (entry.includes('\0')) throw invalid('must not contain a NUL character', path);
    if (/[()]/.test(entry)) throw invalid(`functions such as "${entry.slice(0, 60)}" are not supported yet`, path);
  }
  return list.length === 0 ? ['*'] : list;
}

/** Entries grouped by the field they begin with, in the order of first mention. Unknown names are left out. */
export function wantedFields(
  scope: Scope,
  collection: Collection,
  entries: readonly string[],
  aliases: ReadonlyMap<string, string>,
): readonly Wanted[] {
  const wanted = new Map<string, { field: Field; nested: string[] | null }>();
  const want = (key: string, rest: string | undefined) => {
    const name = aliases.get(key) ?? key;
    const field = collection.fields.get(name);
    if (!field || (rest !== undefined && !rest.startsWith('*'))) refuseAny(scope, collection, name);
    if (!field && scope.visible(collection, name)) scope.onUnknown();
    if (!field || isPresentation(field)) return;
    if (rest !== undefined && !field.relation) return;
    const known = wanted.get(key) ?? { field, nested: null };
    if (rest !== undefined) known.nested = [...(known.nested ?? []), rest];
    wanted.set(key, known);
  };
  for (const entry of entries) {
    const dot = entry.indexOf('.');
    const head = dot < 0 ? entry : entry.slice(0, dot);
    const rest = dot < 0 ? undefined : entry.slice(dot + 1);
    if (head !== '*') want(head, rest);
    else for (const name of [...collection.fields.keys(), ...aliases.keys()]) spread(name, rest);
  }
  return [...wanted].map(([key, { field, nested }]) => ({ key, field, nested }));

  /** `*.*` is the columns and one level more; `*.name` only looks behind relations. */
  function spread(name: string, rest: string | undefined): void {
    const field = collection.fields.get(aliases.get(name) ?? name);
    if (rest === undefined) want(name, undefined);
    else if (field?.relation) want(name, rest);
    else if (rest.startsWith('*')) want(name, undefined);
  }
}

/** Dividers, groups and the like: aliases that hold nothing. */
const isPresentation = (field: Field): boolean => field.column === null && field.relation === null;
