import type { Collection, Field, Relation } from '../../schema/contract.ts';
import { isSearchVector } from '../../schema/library.ts';
import { assertPathDepths } from './depth.ts';
import type { QueryParseContext } from './parse-context.ts';
import { buildResponseMemberName, type FieldPathStep, parseFieldPathStep, splitFirstPathStep } from './path-steps.ts';
import { createInvalidQueryFailure, parseNameListParameter, type QueryErrorPath } from './raw-values.ts';

/**
 * One requested field of the parameter `fields`: the field itself, a function of it, or nested fields behind it. Nested fields
 * win over the bare field.
 */
export interface RequestedField {
  readonly field: Field;
  readonly key: string;
  readonly fn?: FieldPathStep['fn'];
  readonly nested: readonly string[] | null;
  /** For a many-to-any: nested fields for one collection, by its name. */
  readonly nestedByCollection: ReadonlyMap<string, readonly string[]>;
}

const MAX_ENTRIES = 2000;

/** Parses `fields` to paths of at most `deepest` names; the default is `*`. */
export function parseFieldsParameter(raw: unknown, path: QueryErrorPath, deepest: number): readonly string[] {
  const list = parseNameListParameter(raw, path);
  if (list.length > MAX_ENTRIES)
    throw createInvalidQueryFailure(`has ${list.length} entries, more than the ${MAX_ENTRIES} allowed`, path);
  for (const entry of list)
    if (entry.includes('\0')) throw createInvalidQueryFailure('must not contain a NUL character', path);
  assertPathDepths(list, deepest, path);
  return list.length === 0 ? ['*'] : list;
}

interface FieldsContext {
  readonly aliases: ReadonlyMap<string, string>;
  readonly path: QueryErrorPath;
  /** With `backlink=false` the relation to the parent node, which wildcards must not follow back. */
  readonly excludedRelation: Relation | undefined;
}

/** Groups paths by their first field, in the order of first mention. Unknown and hidden names are left out. */
export function groupFieldPaths(
  context: QueryParseContext,
  collection: Collection,
  entries: readonly string[],
  { aliases, path, excludedRelation }: FieldsContext,
): readonly RequestedField[] {
  type Open = {
    field: Field;
    key: string;
    fn?: FieldPathStep['fn'];
    nested: string[] | null;
    nestedByCollection: Map<string, string[]>;
  };
  const requested = new Map<string, Open>();

  function addRequested(step: string, rest: string | undefined): void {
    const [stepText, only] = step.includes('(') || collection.fields.has(step) ? [step] : splitCollection(step);
    const name = aliases.get(stepText) ?? stepText;
    // A column may have a name that looks like a function or a collection prefix.
    const parsed: FieldPathStep = collection.fields.has(name) ? { field: name } : parseFieldPathStep(name, path);
    const { fn } = parsed;
    const field = collection.fields.get(parsed.field);
    // A hidden field is left out before an error could reveal its type or its relation.
    if (!context.isVisible(collection, parsed.field)) return;
    if (!field) context.onUnknownField();
    if (!field || isPresentationAlias(field)) return;
    if (rest !== undefined && (fn || !field.relation)) return;
    if (only !== undefined && !(field.relation?.kind === 'any' && field.relation.allowedCollections.includes(only)))
      return;
    const key = aliases.has(stepText) ? stepText : buildResponseMemberName(parsed, path);
    const known: Open = requested.get(key) ?? {
      field,
      key,
      ...(fn ? { fn } : {}),
      nested: null,
      nestedByCollection: new Map(),
    };
    if (known.field !== field || !isSameFunction(known.fn, fn))
      throw createInvalidQueryFailure(
        `two members of the answer have the name "${key}": give one of them an alias`,
        path,
      );
    if (rest !== undefined && only !== undefined)
      known.nestedByCollection.set(only, [...(known.nestedByCollection.get(only) ?? []), rest]);
    else if (rest !== undefined) known.nested = [...(known.nested ?? []), rest];
    requested.set(key, known);
  }

  /** `*.*` is all columns and the fields behind relations; `*.name` is only fields behind relations. */
  function addWildcard(name: string, rest: string | undefined): void {
    const field = collection.fields.get(aliases.get(name) ?? name);
    if (rest === undefined || aliases.get(name)?.includes('(')) addRequested(name, undefined);
    else if (field?.relation) {
      if (!excludedRelation || field.relation.relation !== excludedRelation) addRequested(name, rest);
    } else if (rest.startsWith('*')) addRequested(name, undefined);
  }

  for (const entry of entries) {
    const [head, rest] = splitFirstPathStep(entry, path);
    if (head !== '*') addRequested(head, rest);
    else for (const name of [...wildcardFields(collection), ...aliases.keys()]) addWildcard(name, rest);
  }
  return [...requested.values()];
}

/** `*` leaves out search vectors, which repeat the words of other fields. */
const wildcardFields = ({ fields }: Collection): readonly string[] =>
  [...fields.values()].filter((field) => !isSearchVector(field)).map(({ name }) => name);

const isSameFunction = (one: FieldPathStep['fn'], other: FieldPathStep['fn']): boolean =>
  one?.name === other?.name && one?.path.join('.') === other?.path.join('.');

/** `item:headings` → the field (or alias) and the collection. */
function splitCollection(step: string): readonly [name: string, only?: string] {
  const colon = step.indexOf(':');
  return colon < 0 ? [step] : [step.slice(0, colon), step.slice(colon + 1)];
}

/** Whether the field is only for presentation, such as a divider: an alias without a relation. */
const isPresentationAlias = (field: Field): boolean => field.column === null && field.relation === null;
