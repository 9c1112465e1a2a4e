import { PUBLIC_ROLE } from '../../../plugins/access/contract.ts';
import type { Random } from '../../support/random.ts';
import { isSystem, MODEL, NAMES } from './model.ts';
import type { Asked, Filter, Model, Nested, Terms } from './shapes.ts';

export const WORDS = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu', 'hen'];
const TEXT_PATHS = [
  '$CURRENT_USER.title',
  '$CURRENT_ROLE.description',
  '$CURRENT_USER.team.name',
  '$CURRENT_USER.role.description',
];
const NUMBER_PATHS = ['$CURRENT_USER.team', '$CURRENT_USER.team.level'];
/** Through an alias: several values, for `_in` and `_nin` alone. */
const SEVERAL = [
  '$CURRENT_USER.people',
  '$CURRENT_USER.people.level',
  '$CURRENT_USER.team.members',
  '$CURRENT_USER.people.boss.level',
];

const of = (name: string) => MODEL[name] as Model[string];

/** All fields, each once. */
const namesOf = (name: string): readonly string[] => {
  const { key, plain, ones, manys, anys } = of(name);
  return [...new Set([...key, ...Object.keys({ ...plain, ...ones, ...manys, ...anys })])];
};

const keyNested = (name: string): Nested => Object.fromEntries(of(name).key.map((column) => [column, true]));

/** Relations that lead to a collection, as `$FOLLOW` names them. */
const followsOf = (name: string): readonly { key: string; to: string }[] =>
  NAMES.filter((from) => !isSystem(from)).flatMap((from) => {
    const ones = Object.entries(of(from).ones).filter(([, to]) => to === name);
    const anys = Object.entries(of(from).anys ?? {}).filter(([, { to }]) => to.includes(name));
    return [
      ...ones.map(([field]) => ({ key: `$FOLLOW(${from},${field})`, to: from })),
      ...anys.map(([field, { by }]) => ({ key: `$FOLLOW(${from},${field},${by})`, to: from })),
    ];
  });

export type Draw = ReturnType<typeof createDraw>;

/** Questions and rules, drawn at random over the schema. */
export function createDraw({ upTo, one, chance }: Random) {
  const some = <T>(list: readonly T[], share: number): T[] => list.filter(() => chance(share));
  /** How often a value comes from who asks: often in rules, now and then in a caller's own filter. */
  const dynamic = (isRule: boolean) => chance(isRule ? 0.3 : 0.12);

  function textTest(isRule: boolean): Filter {
    if (dynamic(isRule)) return { [one(['_eq', '_neq', '_contains', '_ncontains', '_in', '_nin'])]: one(TEXT_PATHS) };
    const word = one(WORDS);
    return one<Filter>([
      { [one(['_eq', '_neq', '_contains', '_ncontains', '_starts_with'])]: word },
      { [one(['_in', '_nin'])]: [word, one(WORDS)] },
      { _empty: chance(0.5) },
    ]);
  }

  function uuidTest(field: string): Filter {
    const me = field === 'group' || field === 'role' ? '$CURRENT_ROLE' : '$CURRENT_USER';
    return one<Filter>([{ _eq: me }, { _neq: me }, { [one(['_in', '_nin'])]: [me] }, { _nin: [me, PUBLIC_ROLE] }]);
  }

  function numberTest(isRule: boolean, most = 12): Filter {
    if (dynamic(isRule)) {
      if (chance(0.35)) return { [one(['_in', '_nin'])]: [one(SEVERAL)] };
      return one<Filter>([
        { [one(['_eq', '_neq', '_gt', '_lt'])]: one(NUMBER_PATHS) },
        { _nbetween: [one(NUMBER_PATHS), 9] },
      ]);
    }
    const number = 1 + upTo(most);
    return one<Filter>([
      { [one(['_eq', '_neq', '_gt', '_lt'])]: number },
      { [one(['_in', '_nin'])]: [number, 1 + upTo(most)] },
      { [one(['_between', '_nbetween'])]: [number, number + upTo(6)] },
    ]);
  }

  function leafOf(name: string, isRule: boolean): Filter {
    const { key, plain, ones, manys, anys } = of(name);
    const functions = [
      ...Object.keys(manys).map((field) => `count(${field})`),
      ...Object.keys(plain).flatMap((field) =>
        plain[field] === 'moment' ? [`year(${field})`, `month(${field})`] : [],
      ),
    ];
    if (functions.length > 0 && chance(0.2)) {
      const fn = one(functions);
      if (fn.startsWith('year')) return { [fn]: { [one(['_eq', '_lt', '_gt'])]: 2021 + upTo(11) } };
      return { [fn]: fn.startsWith('count') ? { [one(['_eq', '_gt', '_lt', '_neq'])]: upTo(3) } : numberTest(false) };
    }
    const field = one(namesOf(name).filter((field) => !manys[field]));
    if (plain[field] === 'masked') return { [field]: { [one(['_null', '_empty'])]: chance(0.5) } };
    if (chance(0.15)) return { [field]: { _null: chance(0.5) } };
    if (plain[field] === 'moment') return { [field]: { [one(['_lt', '_gt'])]: '$NOW' } };
    if (anys?.[field]) return { [field]: { [one(['_eq', '_neq'])]: String(1 + upTo(6)) } };
    if (plain[field] === 'text') return { [field]: textTest(isRule) };
    const to = ones[field] ?? (key.includes(field) ? name : undefined);
    const isUuid = to ? of(to).keyType === 'uuid' : plain[field] === 'uuid';
    return { [field]: isUuid ? uuidTest(field) : numberTest(isRule) };
  }

  function filterOf(name: string, depth: number, isRule: boolean): Filter {
    const { ones, manys, anys = {} } = of(name);
    const inner = (to: string) => filterOf(to, depth - 1, isRule);
    if (depth > 0 && chance(0.25)) return { [one(['_and', '_and', '_or'])]: [inner(name), inner(name)] };
    const ways = depth > 0 ? [...Object.keys({ ...ones, ...manys, ...anys }), ...some(['$FOLLOW'], 0.3)] : [];
    if (ways.length === 0 || chance(0.45)) return leafOf(name, isRule);
    const field = one(ways);
    if (anys[field]) {
      const to = one(anys[field].to);
      return { [`${field}:${to}`]: inner(to) };
    }
    if (ones[field]) return { [field]: chance(0.2) ? { _null: chance(0.5) } : inner(ones[field]) };
    const follows = followsOf(name);
    if (field === '$FOLLOW' && follows.length === 0) return leafOf(name, isRule);
    const { key, to } = field === '$FOLLOW' ? one(follows) : { key: field, to: manys[field]?.to as string };
    if (chance(0.12)) return { [key]: { _null: chance(0.5) } };
    const twice = chance(0.3);
    return one<() => Filter>([
      () => ({ [key]: inner(to) }),
      () => ({ [key]: { _some: inner(to) } }),
      () => ({ [key]: { _none: inner(to) } }),
      // Two conditions on one alias: about the same row where they stand bare.
      () => ({ _and: [{ [key]: inner(to) }, { [key]: twice ? inner(to) : { _none: inner(to) } }] }),
      () => ({ [key]: { _some: inner(to), ...leafOf(to, isRule) } }),
      () => ({ _and: [{ [key]: leafOf(to, isRule) }, { [key]: { _some: leafOf(to, isRule) } }] }),
      () => ({ _and: [{ [key]: leafOf(to, isRule) }, { [key]: leafOf(to, isRule) }] }),
    ])();
  }

  /** A permission's list of fields. */
  function fieldListOf(name: string): readonly string[] {
    const { key, ones, manys } = of(name);
    const all = namesOf(name);
    const without = (out: readonly string[]) => all.filter((field) => !out.includes(field));
    return one<() => readonly string[]>([
      () => ['*'],
      () => ['*'],
      () => some(all, 0.7),
      () => without([one(key)]),
      () => without(Object.keys(ones)),
      () => without(Object.keys(manys)),
      () => (chance(0.3) ? [] : all),
    ])();
  }

  /** Half of the fields. */
  const someOf = (name: string): string[] => some(namesOf(name), 0.5);

  function nestedOf(name: string, depth: number): Nested {
    const { plain, ones, manys, anys = {} } = of(name);
    if (chance(0.25) && !isSystem(name)) return { '*': true };
    const functions = [
      ...Object.keys(manys).map((field) => `count(${field})`),
      ...Object.keys(plain)
        .filter((field) => plain[field] === 'moment')
        .map((field) => `year(${field})`),
    ];
    const columns = namesOf(name).filter((field) => !anys[field]);
    const fields = [...some(columns, 0.45), ...some(functions, 0.25)];
    const wanted = fields.map((field): [string, true | Nested] => {
      const to = ones[field] ?? manys[field]?.to;
      return [field, to && depth > 0 && chance(0.6) ? nestedOf(to, depth - 1) : true];
    });
    for (const [field, { to }] of Object.entries(anys)) {
      const targets = depth > 0 ? some(to, 0.6) : [];
      if (targets.length === 0 && chance(0.5)) wanted.push([field, true]);
      for (const target of targets) wanted.push([`${field}:${target}`, nestedOf(target, depth - 1)]);
    }
    return wanted.length > 0 ? Object.fromEntries(wanted) : keyNested(name);
  }

  function sortOf(name: string): string {
    const path: string[] = [];
    let at = of(name);
    let where = name;
    while (path.length < 2 && chance(0.4)) {
      const steps = [...Object.keys(at.ones), ...some(Object.keys(at.manys), 0.4)];
      if (steps.length === 0) break;
      const step = one(steps);
      path.push(step);
      where = at.ones[step] ?? (at.manys[step]?.to as string);
      at = of(where);
    }
    const functions = Object.keys(at.manys).map((field) => `count(${field})`);
    const moments = Object.keys(at.plain).filter((field) => at.plain[field] === 'moment');
    const last = one([
      ...namesOf(where).filter((field) => !at.manys[field] && !at.anys?.[field]),
      ...some([...functions, ...moments.map((field) => `month(${field})`)], 0.5),
    ]);
    return `${chance(0.5) ? '-' : ''}${[...path, last].join('.')}`;
  }

  const cutOf = (): Terms => (chance(0.3) ? { limit: upTo(6), offset: upTo(4) } : {});

  function termsOf(name: string, depth: number): Terms {
    return {
      ...(chance(0.5) ? { filter: filterOf(name, upTo(depth), false) } : {}),
      ...(chance(0.4) ? { sort: Array.from({ length: chance(0.3) ? 2 : 1 }, () => sortOf(name)) } : {}),
      // System collections have texts and numbers that are not in the model; none of them has one of the words.
      ...(chance(isSystem(name) ? 0.35 : 0.15)
        ? { search: one(isSystem(name) ? WORDS : [...WORDS, 'a', '3', '7']) }
        : {}),
      ...cutOf(),
    };
  }

  /** Terms of the relations that are asked for, each parent's list cut by itself. */
  function deepOf(name: string, fields: Nested): Terms['deep'] {
    const { ones, manys } = of(name);
    const entries = Object.entries(fields).flatMap(([field, more]): [string, Terms][] => {
      const to = manys[field]?.to ?? ones[field] ?? field.split(':')[1];
      if (!to || field.includes('(') || (more === true && !manys[field]) || chance(0.5)) return [];
      const below = more === true ? undefined : deepOf(to, more);
      const nested = below && Object.keys(below).length > 0 ? { deep: below } : {};
      if (!manys[field]) return [[field, { ...(chance(0.4) ? { filter: filterOf(to, 1, false) } : {}), ...nested }]];
      if (chance(0.1)) return [[field, groupsOf(to)]];
      return [[field, { ...termsOf(to, 2), ...nested }]];
    });
    return Object.fromEntries(entries);
  }

  function groupsOf(name: string): Terms {
    const { plain, manys } = of(name);
    const columns = namesOf(name).filter((field) => !manys[field]);
    const numbers = Object.keys(plain).filter((field) => plain[field] === 'number');
    const functions = [
      ...Object.keys(manys).map((field) => `count(${field})`),
      ...Object.keys(plain)
        .filter((field) => plain[field] === 'moment')
        .map((field) => `year(${field})`),
    ];
    const groupBy = chance(0.7)
      ? [...new Set([one([...columns, ...functions]), ...(chance(0.3) ? [one(columns)] : [])])]
      : [];
    const kinds = some(['count', 'countDistinct', 'sum', 'avg', 'min', 'max', 'sumDistinct', 'avgDistinct'], 0.3);
    const entries = kinds.flatMap((fn): [string, string[]][] => {
      if (fn === 'count' && chance(0.5)) return [[fn, ['*']]];
      const fit = /count/.test(fn)
        ? columns
        : /min|max/.test(fn)
          ? [...numbers, ...some(Object.keys(plain), 0.5)]
          : numbers;
      const fields = [...new Set(some(fit, 0.6))].filter((field) => plain[field] !== 'uuid' || /count/.test(fn));
      return fields.length > 0 ? [[fn, fields]] : [];
    });
    const aggregate = Object.fromEntries(entries.length > 0 || groupBy.length > 0 ? entries : [['count', ['*']]]);
    const sortable = [
      ...groupBy,
      ...Object.entries(aggregate).flatMap(([fn, fields]) => fields.map((field) => `${fn}.${field}`)),
    ];
    return {
      ...(Object.keys(aggregate).length > 0 ? { aggregate } : {}),
      ...(groupBy.length > 0 ? { groupBy } : {}),
      ...(chance(0.4) ? { sort: [`${chance(0.5) ? '-' : ''}${one(sortable)}`] } : {}),
      ...(chance(0.4) ? { filter: filterOf(name, upTo(3), false) } : {}),
      ...(groupBy.length > 0 ? cutOf() : {}),
    };
  }

  function askedOf(name: string): Asked {
    if (chance(0.25)) return { fields: keyNested(name), ...groupsOf(name) };
    const fields = nestedOf(name, 2);
    const deep = chance(0.5) ? deepOf(name, fields) : {};
    return { fields, ...termsOf(name, 3), ...(deep && Object.keys(deep).length > 0 ? { deep } : {}) };
  }

  const ruleOf = (name: string): Filter | null => (chance(0.3) ? null : filterOf(name, upTo(3), true));

  /** A rule about the row next door, of which a payload may speak as well. */
  function nearRuleOf(name: string): Filter | undefined {
    const fields = Object.entries(of(name).ones).filter(([, to]) => !isSystem(to));
    if (fields.length === 0) return undefined;
    const [field, to] = one(fields);
    const number = Object.keys(of(to).plain).find((other) => of(to).plain[other] === 'number');
    const text = Object.keys(of(to).plain)[0] as string;
    return {
      [field]: number && chance(0.5) ? { [number]: { [one(['_lt', '_gt'])]: 8 } } : { [text]: { _neq: 'new' } },
    };
  }

  return { nearRuleOf, someOf, filterOf, fieldListOf, nestedOf, deepOf, askedOf, ruleOf };
}

/** A question as it is sent. */
export const queryOf = ({ fields, keys: _, limit = -1, sort, deep, ...rest }: Asked): Record<string, unknown> => ({
  fields: pathsOf(fields),
  limit,
  meta: '*',
  ...rest,
  ...(sort === undefined ? {} : { sort }),
  ...(deep ? { deep: wireDeep(deep) } : {}),
});

export const wireDeep = (deep: NonNullable<Terms['deep']>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(deep).map(([field, { deep: below = {}, ...terms }]) => [
      field,
      { ...Object.fromEntries(Object.entries(terms).map(([name, value]) => [`_${name}`, value])), ...wireDeep(below) },
    ]),
  );

export const pathsOf = (nested: Nested, before = ''): string[] =>
  Object.entries(nested).flatMap(([name, more]) =>
    more === true ? [before + name] : pathsOf(more, `${before}${name}.`),
  );
