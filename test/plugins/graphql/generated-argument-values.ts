import type { SeededRandom } from '../../support/random.ts';
import { type ColumnKind, REFERENCE_TABLES, type ReferenceTable, type ReferenceTableRow } from './reference-rows.ts';

type Value = Readonly<Record<string, unknown>>;

// biome-ignore format: a table by kind
const OPERATORS: Readonly<Record<ColumnKind, readonly string[]>> = {
  text: ['_eq', '_neq', '_in', '_nin', '_contains', '_ncontains', '_icontains', '_starts_with', '_nends_with', '_empty'],
  number: ['_eq', '_neq', '_gt', '_gte', '_lt', '_lte', '_in', '_nin', '_between', '_nbetween', '_null'],
  whole: ['_eq', '_neq', '_gt', '_gte', '_lt', '_lte', '_in', '_nin', '_between', '_nbetween', '_null'],
  big: ['_eq', '_neq', '_gt', '_lte', '_in', '_nin', '_between', '_nnull'],
  moment: ['_eq', '_neq', '_gt', '_gte', '_lt', '_lte', '_in', '_between', '_nbetween', '_null'],
  flag: ['_eq', '_neq', '_null', '_nnull'],
  key: ['_eq', '_neq', '_in', '_nin', '_null'],
  other: ['_null', '_nnull'],
};

const SORTS: Readonly<Record<string, readonly string[]>> = {
  post: ['author.name', '-author.born', 'year(published)', '-count(notes)'],
  person: ['-boss.name', 'year(born)'],
  note: ['post.title', '-post.author.name'],
};

/** Returns a generator of argument values, by the name of the argument and the collection. */
export function createArgumentValueGenerator(
  random: SeededRandom,
  all: ReadonlyMap<string, readonly ReferenceTableRow[]>,
) {
  function operation(kind: ColumnKind, values: readonly unknown[]): Value {
    const name = random.one(OPERATORS[kind]);
    const value = () => (values.length > 0 ? random.one(values) : '0');
    if (/null|empty/.test(name)) return { [name]: random.chance(0.7) };
    if (/between/.test(name)) return { [name]: [value(), value()] };
    if (/_n?in/.test(name)) return { [name]: Array.from({ length: 1 + random.upTo(3) }, value) };
    if (/contains|with/.test(name))
      return { [name]: random.one(['a', 'r', 'er', 'amber', 'GROVE', 'e', '"', 'dune b']) };
    return { [name]: value() };
  }

  /** Generates a random filter for a collection. */
  function filter(name: string, depth: number): Value {
    const { columns, one, many, any, functions } = REFERENCE_TABLES[name] as ReferenceTable;
    const kinds = ['column', 'column', 'column', 'one', 'many', 'any', 'function', 'logic'];
    const filterInput: Record<string, unknown> = {};
    for (let left = 1 + random.upTo(2); left > 0; left--) {
      const kind = depth > 0 ? random.one(kinds) : 'column';
      if (kind === 'one' && Object.keys(one).length > 0) {
        const [field, to] = random.one(Object.entries(one));
        filterInput[field] = filter(to, depth - 1);
      } else if (kind === 'many' && Object.keys(many).length > 0) {
        const [field, { of }] = random.one(Object.entries(many));
        const inner = filter(of, depth - 1);
        filterInput[field] = random.one([inner, { _some: inner }, { _none: inner }, { _none: {} }]);
      } else if (kind === 'any' && Object.keys(any).length > 0) {
        const [field, { of }] = random.one(Object.entries(any));
        const target = random.one(of);
        filterInput[`${field}__${target}`] = filter(target, 0);
      } else if (kind === 'function' && Object.keys(functions).length > 0) {
        const [field, group] = random.one(Object.entries(functions));
        const fn = { date: 'year', datetime: 'month', time: 'hour', count: 'count', json: 'count' }[group];
        filterInput[`${field}_func`] = { [fn]: operation('whole', [0, 1, 2, 3, 12, 2022]) };
      } else if (kind === 'logic') {
        filterInput[random.one(['_and', '_or'])] = [filter(name, depth - 1), filter(name, depth - 1)];
      } else {
        const [field, type] = random.one(Object.entries(columns));
        const values = (all.get(name) ?? []).flatMap((row) => row[field] ?? []).filter((value) => value !== '');
        filterInput[field] = operation(type, values);
      }
    }
    return filterInput;
  }

  const sortable = (name: string): readonly string[] => {
    const { columns } = REFERENCE_TABLES[name] as ReferenceTable;
    const own = Object.entries(columns).flatMap(([field, kind]) =>
      kind === 'other' || kind === 'flag' ? [] : [field],
    );
    return [...own, ...own.map((field) => `-${field}`), ...(SORTS[name] ?? [])];
  };

  return (name: string, collection: string): unknown => {
    switch (name) {
      case 'filter':
        return filter(collection, 2);
      case 'sort':
        return Array.from({ length: 1 + random.upTo(2) }, () => random.one(sortable(collection)));
      case 'limit':
        return random.one([-1, 0, 1, 2, 3, 5, 100, null]);
      case 'offset':
        return random.upTo(4);
      case 'page':
        return random.upTo(3);
      case 'search':
        return random.one(['amber', 'RCH', 'e', 'grove', 'nothing']);
      case 'id':
        return String(random.one(all.get(collection) ?? []).id);
      case 'groupBy':
        return collection === 'post'
          ? random.one([['status'], ['pinned', 'status'], ['rank'], ['year(published)'], []])
          : ['id'];
      default:
        return random.one(['a[1].b', '[1]', 'a', 'c.d', 'nope']);
    }
  };
}
