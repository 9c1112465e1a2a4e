import type { GroupSelection, RawQuery, Selected, Selection, Terms } from '../../query/contract.ts';
import type { Form } from './rest-form.ts';

// What listeners left of a query, brought back to the selection it was made of.

/** What a query says of the rows of one place. */
interface Place {
  /** Undefined: all of them. */
  readonly paths: readonly Path[] | undefined;
  readonly alias: unknown;
  readonly deep: unknown;
}

interface Path {
  /** `author` of `author.name`, `item` of `item:hero.title`, `published` of `year(published)`. */
  readonly name: string;
  readonly isFunction: boolean;
  /** The collection of a many-to-any. */
  readonly only: string | undefined;
  readonly rest: string | undefined;
}

const TERMS = ['filter', 'sort', 'limit', 'offset', 'page', 'search'] as const satisfies (keyof Terms)[];

/** The conditions are those of the query; fields that are no longer in it read null, since the answer has to have them. */
export function narrowed(
  selection: Selection | GroupSelection,
  form: Form | undefined,
  query: RawQuery,
): Selection | GroupSelection {
  const terms = Object.fromEntries(TERMS.map((name) => [name, query[name]]));
  if ('groups' in selection || !form) return { ...selection, terms: { ...terms, groupBy: query.groupBy } } as never;
  const { alias, deep } = query;
  const paths = [query.fields ?? []].flat().filter((path) => path !== '');
  const place = { paths: paths.length > 0 ? paths.map(pathOf) : undefined, alias, deep };
  return { terms, shown: selection.shown.map((one) => left(one, form, place)) };
}

function left(one: Selected, form: Form, place: Place): Selected {
  if (one.kind === 'constant') return one;
  if (one.kind === 'object') return { ...one, shown: one.shown.map((inner) => left(inner, form, place)) };
  const nothing: Selected = { kind: 'constant', key: one.key, value: null };
  if (one.kind === 'column') return isNamed(one.field, place) ? one : nothing;
  const key = form.keys.get(one) as string;
  const rowsBehind = (selection: Selection, name: string, only?: string): Selection | undefined => {
    const paths = pathsBehind(one.field, key, only, place);
    const inner = form.behind.get(name);
    if (paths === null || !inner) return undefined;
    const node = member(place.deep, name);
    const terms = TERMS.flatMap((term) => {
      const value = member(node, `_${term}`);
      return value === undefined ? [] : [[term, value]];
    });
    const behind: Place = { paths, alias: member(node, '_alias'), deep: node };
    const shown = selection.shown.map((entry) => left(entry, inner, behind));
    return { ...(terms.length > 0 ? { terms: Object.fromEntries(terms) } : {}), shown };
  };
  if (one.kind === 'related') {
    const selection = rowsBehind(one.selection, key);
    return selection ? { ...one, selection } : nothing;
  }
  const of = Object.entries(one.of).flatMap(([name, selection]) => {
    const rows = rowsBehind(selection, `${key}:${name}`, name);
    return rows ? [[name, rows]] : [];
  });
  return of.length > 0 ? { ...one, of: Object.fromEntries(of) } : nothing;
}

const isNamed = (field: string, { paths, alias }: Place): boolean =>
  !paths || paths.some(({ name }) => name === '*' || nameIn(alias, name) === field);

/** What is asked behind a relation, by what it is called or else by its field; null where that is not asked at all. */
function pathsBehind(
  field: string,
  key: string,
  only: string | undefined,
  { paths, alias }: Place,
): readonly Path[] | null | undefined {
  if (!paths) return undefined;
  const plain = paths.filter((path) => !path.isFunction && (path.only === undefined || path.only === only));
  const called = plain.filter(({ name }) => name === key);
  const same = called.length > 0 ? called : plain.filter(({ name }) => nameIn(alias, name) === field);
  const found = [...same, ...plain.filter(({ name, rest }) => name === '*' && rest !== undefined)];
  return found.length > 0 ? found.flatMap(({ rest }) => (rest === undefined ? [] : [pathOf(rest)])) : null;
}

/** The field that a query means by a name. */
const nameIn = (alias: unknown, name: string): string => {
  const meant = member(alias, name);
  return typeof meant === 'string' ? pathOf(meant).name : name;
};

const member = (of: unknown, name: string): unknown =>
  typeof of === 'object' && of !== null && Object.hasOwn(of, name) ? (of as Record<string, unknown>)[name] : undefined;

function pathOf(path: unknown): Path {
  const text = String(path);
  const fn = /^\s*\w+\(([^,()]*)/.exec(text);
  if (fn) return { name: (fn[1] as string).trim(), isFunction: true, only: undefined, rest: undefined };
  const dot = text.indexOf('.');
  const head = (dot < 0 ? text : text.slice(0, dot)).trim();
  const colon = head.indexOf(':');
  return {
    name: colon < 0 ? head : head.slice(0, colon),
    isFunction: false,
    only: colon < 0 ? undefined : head.slice(colon + 1),
    rest: dot < 0 ? undefined : text.slice(dot + 1),
  };
}
