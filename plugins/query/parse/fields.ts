import type { Collection, Field, Relation } from '../../schema/contract.ts';
import { isSearchVector } from '../../schema/library.ts';
import { assertPaths } from './depth.ts';
import { answerKey, headOf, type Name, nameOf } from './names.ts';
import type { Scope } from './scope.ts';
import { invalid, type Path, textList } from './shape.ts';

/** What was asked of one field: itself, a function of it, what lies behind it, or both (then the nested form wins). */
export interface Wanted {
  readonly field: Field;
  readonly key: string;
  readonly fn?: Name['fn'];
  readonly nested: readonly string[] | null;
  /** Of a many-to-any: what was asked of the rows of one collection only. */
  readonly scoped: ReadonlyMap<string, readonly string[]>;
}

const MAX_ENTRIES = 2000;

/** `fields` as a list of paths of at most `deepest` names; absent means `*`. */
export function parseFields(raw: unknown, path: Path, deepest: number): readonly string[] {
  const list = textList(raw, path);
  if (list.length > MAX_ENTRIES)
    throw invalid(`has ${list.length} entries, more than the ${MAX_ENTRIES} allowed`, path);
  for (const entry of list) if (entry.includes('\0')) throw invalid('must not contain a NUL character', path);
  assertPaths(list, deepest, path);
  return list.length === 0 ? ['*'] : list;
}

interface Place {
  readonly aliases: ReadonlyMap<string, string>;
  readonly path: Path;
  /** The relation that led here, where wildcards must not lead back (`backlink=false`). */
  readonly notBack: Relation | undefined;
}

/** Entries grouped by the field they begin with, in the order of first mention. Unknown names are left out. */
export function wantedFields(
  scope: Scope,
  collection: Collection,
  entries: readonly string[],
  { aliases, path, notBack }: Place,
): readonly Wanted[] {
  type Open = { field: Field; key: string; fn?: Name['fn']; nested: string[] | null; scoped: Map<string, string[]> };
  const wanted = new Map<string, Open>();

  function want(step: string, rest: string | undefined): void {
    const [called, only] = step.includes('(') || collection.fields.has(step) ? [step] : splitScope(step);
    const name = aliases.get(called) ?? called;
    // A column may be called like a function or a scope looks.
    const meant: Name = collection.fields.has(name) ? { field: name } : nameOf(name, path);
    const { fn } = meant;
    const field = collection.fields.get(meant.field);
    // What may not be known is left out before anything could be said about its type or where it leads.
    if (!scope.visible(collection, meant.field)) return;
    if (!field) scope.onUnknown();
    if (!field || isPresentation(field)) return;
    if (rest !== undefined && (fn || !field.relation)) return;
    if (only !== undefined && !(field.relation?.kind === 'any' && field.relation.allowed.includes(only))) return;
    const key = aliases.has(called) ? called : answerKey(meant, path);
    const known: Open = wanted.get(key) ?? { field, key, ...(fn ? { fn } : {}), nested: null, scoped: new Map() };
    if (known.field !== field || !isSameFn(known.fn, fn))
      throw invalid(`two things would be called "${key}": give one an alias`, path);
    if (rest !== undefined && only !== undefined) known.scoped.set(only, [...(known.scoped.get(only) ?? []), rest]);
    else if (rest !== undefined) known.nested = [...(known.nested ?? []), rest];
    wanted.set(key, known);
  }

  /** `*.*` is the columns and one level more; `*.name` only looks behind relations. */
  function spread(name: string, rest: string | undefined): void {
    const field = collection.fields.get(aliases.get(name) ?? name);
    if (rest === undefined || aliases.get(name)?.includes('(')) want(name, undefined);
    else if (field?.relation) {
      if (!notBack || field.relation.relation !== notBack) want(name, rest);
    } else if (rest.startsWith('*')) want(name, undefined);
  }

  for (const entry of entries) {
    const [head, rest] = headOf(entry, path);
    if (head !== '*') want(head, rest);
    else for (const name of [...starFields(collection), ...aliases.keys()]) spread(name, rest);
  }
  return [...wanted.values()];
}

/** A search vector repeats in words what other fields say, so that it is shown to those alone who name it. */
const starFields = ({ fields }: Collection): readonly string[] =>
  [...fields.values()].filter((field) => !isSearchVector(field)).map(({ name }) => name);

const isSameFn = (one: Name['fn'], other: Name['fn']): boolean =>
  one?.name === other?.name && one?.path.join('.') === other?.path.join('.');

/** `item:headings` → the field (or alias) and the collection. */
function splitScope(step: string): readonly [name: string, only?: string] {
  const colon = step.indexOf(':');
  return colon < 0 ? [step] : [step.slice(0, colon), step.slice(colon + 1)];
}

/** Dividers, groups and the like: aliases that hold nothing. */
const isPresentation = (field: Field): boolean => field.column === null && field.relation === null;
