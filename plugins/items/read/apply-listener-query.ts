import type {
  GroupSelection,
  RawQuery,
  RowSelection,
  SelectionItem,
  SelectionListParameters,
} from '../../query/contract.ts';
import type { RestRowLayout } from './rest-representation.ts';

// Applies what query listeners changed in a REST query to the selection that the query was made of.

/** The parameters of a query for the rows of one level. */
interface QueryLevel {
  /** The requested field paths; undefined for all fields. */
  readonly paths: readonly FieldPath[] | undefined;
  readonly alias: unknown;
  readonly deep: unknown;
}

interface FieldPath {
  /** `author` of `author.name`, `item` of `item:hero.title`, `published` of `year(published)`. */
  readonly name: string;
  readonly isFunction: boolean;
  /** The collection of a many-to-any step. */
  readonly collection: string | undefined;
  readonly rest: string | undefined;
}

const QUERY_TERMS = [
  'filter',
  'sort',
  'limit',
  'offset',
  'page',
  'search',
] as const satisfies (keyof SelectionListParameters)[];

/**
 * Applies a query that listeners changed to the selection: takes its conditions, and replaces fields that the listeners
 * removed by null, since the answer has to have them.
 */
export function applyListenerQuery(
  selection: RowSelection | GroupSelection,
  layout: RestRowLayout | undefined,
  query: RawQuery,
): RowSelection | GroupSelection {
  const parameters = Object.fromEntries(QUERY_TERMS.map((name) => [name, query[name]]));
  if ('groups' in selection || !layout)
    return { ...selection, parameters: { ...parameters, groupBy: query.groupBy } } as never;
  const { alias, deep } = query;
  const paths = [query.fields ?? []].flat().filter((path) => path !== '');
  const level = { paths: paths.length > 0 ? paths.map(parseFieldPath) : undefined, alias, deep };
  return { parameters, items: selection.items.map((one) => narrowField(one, layout, level)) };
}

function narrowField(one: SelectionItem, layout: RestRowLayout, level: QueryLevel): SelectionItem {
  if (one.kind === 'constant') return one;
  if (one.kind === 'object') return { ...one, items: one.items.map((inner) => narrowField(inner, layout, level)) };
  const nullItem: SelectionItem = { kind: 'constant', key: one.key, value: null };
  if (one.kind === 'column') return isRequested(one.field, level) ? one : nullItem;
  const key = layout.keys.get(one) as string;
  const narrowRelation = (selection: RowSelection, name: string, only?: string): RowSelection | undefined => {
    const paths = pathsOfRelation(one.field, key, only, level);
    const inner = layout.nested.get(name);
    if (paths === null || !inner) return undefined;
    const node = readMember(level.deep, name);
    const terms = QUERY_TERMS.flatMap((term) => {
      const value = readMember(node, `_${term}`);
      return value === undefined ? [] : [[term, value]];
    });
    const nestedLevel: QueryLevel = { paths, alias: readMember(node, '_alias'), deep: node };
    const shown = selection.items.map((entry) => narrowField(entry, inner, nestedLevel));
    return { ...(terms.length > 0 ? { parameters: Object.fromEntries(terms) } : {}), items: shown };
  };
  if (one.kind === 'related') {
    const selection = narrowRelation(one.selection, key);
    return selection ? { ...one, selection } : nullItem;
  }
  const of = Object.entries(one.of).flatMap(([name, selection]) => {
    const rows = narrowRelation(selection, `${key}:${name}`, name);
    return rows ? [[name, rows]] : [];
  });
  return of.length > 0 ? { ...one, of: Object.fromEntries(of) } : nullItem;
}

const isRequested = (field: string, { paths, alias }: QueryLevel): boolean =>
  !paths || paths.some(({ name }) => name === '*' || resolveAlias(alias, name) === field);

/** The paths requested behind a relation, by its key or else by its field; null where the relation is not requested. */
function pathsOfRelation(
  field: string,
  key: string,
  only: string | undefined,
  { paths, alias }: QueryLevel,
): readonly FieldPath[] | null | undefined {
  if (!paths) return undefined;
  const plain = paths.filter((path) => !path.isFunction && (path.collection === undefined || path.collection === only));
  const byKey = plain.filter(({ name }) => name === key);
  const matching = byKey.length > 0 ? byKey : plain.filter(({ name }) => resolveAlias(alias, name) === field);
  const found = [...matching, ...plain.filter(({ name, rest }) => name === '*' && rest !== undefined)];
  return found.length > 0 ? found.flatMap(({ rest }) => (rest === undefined ? [] : [parseFieldPath(rest)])) : null;
}

/** The field that a name of the query stands for. */
const resolveAlias = (alias: unknown, name: string): string => {
  const aliased = readMember(alias, name);
  return typeof aliased === 'string' ? parseFieldPath(aliased).name : name;
};

const readMember = (of: unknown, name: string): unknown =>
  typeof of === 'object' && of !== null && Object.hasOwn(of, name) ? (of as Record<string, unknown>)[name] : undefined;

function parseFieldPath(path: unknown): FieldPath {
  const text = String(path);
  const fn = /^\s*\w+\(([^,()]*)/.exec(text);
  if (fn) return { name: (fn[1] as string).trim(), isFunction: true, collection: undefined, rest: undefined };
  const dot = text.indexOf('.');
  const head = (dot < 0 ? text : text.slice(0, dot)).trim();
  const colon = head.indexOf(':');
  return {
    name: colon < 0 ? head : head.slice(0, colon),
    isFunction: false,
    collection: colon < 0 ? undefined : head.slice(colon + 1),
    rest: dot < 0 ? undefined : text.slice(dot + 1),
  };
}
