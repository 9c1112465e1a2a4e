import { PUBLIC_ROLE_ID } from '../../../plugins/access/contract.ts';
import type { SeededRandom } from '../../support/random.ts';
import { COLLECTION_NAMES, isSystemCollection, PERMISSION_TEST_MODEL } from './permission-test-collections.ts';
import type {
  FieldTree,
  ListParameters,
  ListRequest,
  PermissionTestFilter,
  PermissionTestModel,
} from './reference-types.ts';

export const RANDOM_TEXT_WORDS = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu', 'hen'];
const TEXT_PATHS = [
  '$CURRENT_USER.title',
  '$CURRENT_ROLE.description',
  '$CURRENT_USER.team.name',
  '$CURRENT_USER.role.description',
];
const NUMBER_PATHS = ['$CURRENT_USER.team', '$CURRENT_USER.team.level'];
/** Dynamic values whose path leads through a to-many alias. They are lists, so only `_in` and `_nin` take them. */
const SEVERAL = [
  '$CURRENT_USER.people',
  '$CURRENT_USER.people.level',
  '$CURRENT_USER.team.members',
  '$CURRENT_USER.people.boss.level',
];

const of = (name: string) => PERMISSION_TEST_MODEL[name] as PermissionTestModel[string];

/** The names of all fields of a collection of the model, aliases included. */
const namesOf = (name: string): readonly string[] => {
  const { key, plain, manyToOne, toMany, manyToAny } = of(name);
  return [...new Set([...key, ...Object.keys({ ...plain, ...manyToOne, ...toMany, ...manyToAny })])];
};

const keyNested = (name: string): FieldTree => Object.fromEntries(of(name).key.map((column) => [column, true]));

/** The `$FOLLOW` keys of relations that refer to a collection. */
const followKeysOf = (name: string): readonly { key: string; to: string }[] =>
  COLLECTION_NAMES.filter((from) => !isSystemCollection(from)).flatMap((from) => {
    const manyToOne = Object.entries(of(from).manyToOne).filter(([, to]) => to === name);
    const manyToAny = Object.entries(of(from).manyToAny ?? {}).filter(([, { to }]) => to.includes(name));
    return [
      ...manyToOne.map(([field]) => ({ key: `$FOLLOW(${from},${field})`, to: from })),
      ...manyToAny.map(([field, { by }]) => ({ key: `$FOLLOW(${from},${field},${by})`, to: from })),
    ];
  });

export type QueryGenerator = ReturnType<typeof createQueryGenerator>;

/** Creates the generator of random read requests, filters, and rules and field lists of permissions, for the test model. */
export function createQueryGenerator({ upTo, one, chance }: SeededRandom) {
  const some = <T>(list: readonly T[], share: number): T[] => list.filter(() => chance(share));
  /** Draws whether a condition compares with a dynamic value: often in rules, rarely in the filter of a request. */
  const dynamic = (isRule: boolean) => chance(isRule ? 0.3 : 0.12);

  function drawTextCondition(isRule: boolean): PermissionTestFilter {
    if (dynamic(isRule)) return { [one(['_eq', '_neq', '_contains', '_ncontains', '_in', '_nin'])]: one(TEXT_PATHS) };
    const word = one(RANDOM_TEXT_WORDS);
    return one<PermissionTestFilter>([
      { [one(['_eq', '_neq', '_contains', '_ncontains', '_starts_with'])]: word },
      { [one(['_in', '_nin'])]: [word, one(RANDOM_TEXT_WORDS)] },
      { _empty: chance(0.5) },
    ]);
  }

  function drawUuidCondition(field: string): PermissionTestFilter {
    const me = field === 'group' || field === 'role' ? '$CURRENT_ROLE' : '$CURRENT_USER';
    return one<PermissionTestFilter>([
      { _eq: me },
      { _neq: me },
      { [one(['_in', '_nin'])]: [me] },
      { _nin: [me, PUBLIC_ROLE_ID] },
    ]);
  }

  function drawNumberCondition(isRule: boolean, most = 12): PermissionTestFilter {
    if (dynamic(isRule)) {
      if (chance(0.35)) return { [one(['_in', '_nin'])]: [one(SEVERAL)] };
      return one<PermissionTestFilter>([
        { [one(['_eq', '_neq', '_gt', '_lt'])]: one(NUMBER_PATHS) },
        { _nbetween: [one(NUMBER_PATHS), 9] },
      ]);
    }
    const number = 1 + upTo(most);
    return one<PermissionTestFilter>([
      { [one(['_eq', '_neq', '_gt', '_lt'])]: number },
      { [one(['_in', '_nin'])]: [number, 1 + upTo(most)] },
      { [one(['_between', '_nbetween'])]: [number, number + upTo(6)] },
    ]);
  }

  function drawLeafCondition(name: string, isRule: boolean): PermissionTestFilter {
    const { key, plain, manyToOne, toMany, manyToAny } = of(name);
    const functions = [
      ...Object.keys(toMany).map((field) => `count(${field})`),
      ...Object.keys(plain).flatMap((field) =>
        plain[field] === 'moment' ? [`year(${field})`, `month(${field})`] : [],
      ),
    ];
    if (functions.length > 0 && chance(0.2)) {
      const fn = one(functions);
      if (fn.startsWith('year')) return { [fn]: { [one(['_eq', '_lt', '_gt'])]: 2021 + upTo(11) } };
      return {
        [fn]: fn.startsWith('count') ? { [one(['_eq', '_gt', '_lt', '_neq'])]: upTo(3) } : drawNumberCondition(false),
      };
    }
    const field = one(namesOf(name).filter((field) => !toMany[field]));
    if (plain[field] === 'masked') return { [field]: { [one(['_null', '_empty'])]: chance(0.5) } };
    if (chance(0.15)) return { [field]: { _null: chance(0.5) } };
    if (plain[field] === 'moment') return { [field]: { [one(['_lt', '_gt'])]: '$NOW' } };
    if (manyToAny?.[field]) return { [field]: { [one(['_eq', '_neq'])]: String(1 + upTo(6)) } };
    if (plain[field] === 'text') return { [field]: drawTextCondition(isRule) };
    const to = manyToOne[field] ?? (key.includes(field) ? name : undefined);
    const isUuid = to ? of(to).keyType === 'uuid' : plain[field] === 'uuid';
    return { [field]: isUuid ? drawUuidCondition(field) : drawNumberCondition(isRule) };
  }

  function drawFilter(name: string, depth: number, isRule: boolean): PermissionTestFilter {
    const { manyToOne, toMany, manyToAny = {} } = of(name);
    const inner = (to: string) => drawFilter(to, depth - 1, isRule);
    if (depth > 0 && chance(0.25)) return { [one(['_and', '_and', '_or'])]: [inner(name), inner(name)] };
    const ways =
      depth > 0 ? [...Object.keys({ ...manyToOne, ...toMany, ...manyToAny }), ...some(['$FOLLOW'], 0.3)] : [];
    if (ways.length === 0 || chance(0.45)) return drawLeafCondition(name, isRule);
    const field = one(ways);
    if (manyToAny[field]) {
      const to = one(manyToAny[field].to);
      return { [`${field}:${to}`]: inner(to) };
    }
    if (manyToOne[field]) return { [field]: chance(0.2) ? { _null: chance(0.5) } : inner(manyToOne[field]) };
    const follows = followKeysOf(name);
    if (field === '$FOLLOW' && follows.length === 0) return drawLeafCondition(name, isRule);
    const { key, to } = field === '$FOLLOW' ? one(follows) : { key: field, to: toMany[field]?.to as string };
    if (chance(0.12)) return { [key]: { _null: chance(0.5) } };
    const twice = chance(0.3);
    return one<() => PermissionTestFilter>([
      () => ({ [key]: inner(to) }),
      () => ({ [key]: { _some: inner(to) } }),
      () => ({ [key]: { _none: inner(to) } }),
      // Two conditions on one alias. Without `_some` and `_none` one related row must match both.
      () => ({ _and: [{ [key]: inner(to) }, { [key]: twice ? inner(to) : { _none: inner(to) } }] }),
      () => ({ [key]: { _some: inner(to), ...drawLeafCondition(to, isRule) } }),
      () => ({ _and: [{ [key]: drawLeafCondition(to, isRule) }, { [key]: { _some: drawLeafCondition(to, isRule) } }] }),
      () => ({ _and: [{ [key]: drawLeafCondition(to, isRule) }, { [key]: drawLeafCondition(to, isRule) }] }),
    ])();
  }

  /** Draws the field list of a permission. */
  function drawFieldList(name: string): readonly string[] {
    const { key, manyToOne, toMany } = of(name);
    const all = namesOf(name);
    const without = (out: readonly string[]) => all.filter((field) => !out.includes(field));
    return one<() => readonly string[]>([
      () => ['*'],
      () => ['*'],
      () => some(all, 0.7),
      () => without([one(key)]),
      () => without(Object.keys(manyToOne)),
      () => without(Object.keys(toMany)),
      () => (chance(0.3) ? [] : all),
    ])();
  }

  const drawHalfOfFields = (name: string): string[] => some(namesOf(name), 0.5);

  function drawFields(name: string, depth: number): FieldTree {
    const { plain, manyToOne, toMany, manyToAny = {} } = of(name);
    if (chance(0.25) && !isSystemCollection(name)) return { '*': true };
    const functions = [
      ...Object.keys(toMany).map((field) => `count(${field})`),
      ...Object.keys(plain)
        .filter((field) => plain[field] === 'moment')
        .map((field) => `year(${field})`),
    ];
    const columns = namesOf(name).filter((field) => !manyToAny[field]);
    const fields = [...some(columns, 0.45), ...some(functions, 0.25)];
    const fieldEntries = fields.map((field): [string, true | FieldTree] => {
      const to = manyToOne[field] ?? toMany[field]?.to;
      return [field, to && depth > 0 && chance(0.6) ? drawFields(to, depth - 1) : true];
    });
    for (const [field, { to }] of Object.entries(manyToAny)) {
      const targets = depth > 0 ? some(to, 0.6) : [];
      if (targets.length === 0 && chance(0.5)) fieldEntries.push([field, true]);
      for (const target of targets) fieldEntries.push([`${field}:${target}`, drawFields(target, depth - 1)]);
    }
    return fieldEntries.length > 0 ? Object.fromEntries(fieldEntries) : keyNested(name);
  }

  function drawSort(name: string): string {
    const path: string[] = [];
    let at = of(name);
    let where = name;
    while (path.length < 2 && chance(0.4)) {
      const steps = [...Object.keys(at.manyToOne), ...some(Object.keys(at.toMany), 0.4)];
      if (steps.length === 0) break;
      const step = one(steps);
      path.push(step);
      where = at.manyToOne[step] ?? (at.toMany[step]?.to as string);
      at = of(where);
    }
    const functions = Object.keys(at.toMany).map((field) => `count(${field})`);
    const moments = Object.keys(at.plain).filter((field) => at.plain[field] === 'moment');
    const last = one([
      ...namesOf(where).filter((field) => !at.toMany[field] && !at.manyToAny?.[field]),
      ...some([...functions, ...moments.map((field) => `month(${field})`)], 0.5),
    ]);
    return `${chance(0.5) ? '-' : ''}${[...path, last].join('.')}`;
  }

  const drawPage = (): ListParameters => (chance(0.3) ? { limit: upTo(6), offset: upTo(4) } : {});

  function drawTerms(name: string, depth: number): ListParameters {
    return {
      ...(chance(0.5) ? { filter: drawFilter(name, upTo(depth), false) } : {}),
      ...(chance(0.4) ? { sort: Array.from({ length: chance(0.3) ? 2 : 1 }, () => drawSort(name)) } : {}),
      // A search in a system collection also covers fields that the model does not have. None of these contains one of WORDS.
      ...(chance(isSystemCollection(name) ? 0.35 : 0.15)
        ? { search: one(isSystemCollection(name) ? RANDOM_TEXT_WORDS : [...RANDOM_TEXT_WORDS, 'a', '3', '7']) }
        : {}),
      ...drawPage(),
    };
  }

  /** Draws the parameter `deep`: filters, sorting and pages of the requested relations. */
  function drawDeep(name: string, fields: FieldTree): ListParameters['deep'] {
    const { manyToOne, toMany } = of(name);
    const entries = Object.entries(fields).flatMap(([field, more]): [string, ListParameters][] => {
      const to = toMany[field]?.to ?? manyToOne[field] ?? field.split(':')[1];
      if (!to || field.includes('(') || (more === true && !toMany[field]) || chance(0.5)) return [];
      const below = more === true ? undefined : drawDeep(to, more);
      const nested = below && Object.keys(below).length > 0 ? { deep: below } : {};
      if (!toMany[field]) return [[field, { ...(chance(0.4) ? { filter: drawFilter(to, 1, false) } : {}), ...nested }]];
      if (chance(0.1)) return [[field, groupsOf(to)]];
      return [[field, { ...drawTerms(to, 2), ...nested }]];
    });
    return Object.fromEntries(entries);
  }

  function groupsOf(name: string): ListParameters {
    const { plain, toMany } = of(name);
    const columns = namesOf(name).filter((field) => !toMany[field]);
    const numbers = Object.keys(plain).filter((field) => plain[field] === 'number');
    const functions = [
      ...Object.keys(toMany).map((field) => `count(${field})`),
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
      ...(chance(0.4) ? { filter: drawFilter(name, upTo(3), false) } : {}),
      ...(groupBy.length > 0 ? drawPage() : {}),
    };
  }

  function drawListRequest(name: string): ListRequest {
    if (chance(0.25)) return { fields: keyNested(name), ...groupsOf(name) };
    const fields = drawFields(name, 2);
    const deep = chance(0.5) ? drawDeep(name, fields) : {};
    return { fields, ...drawTerms(name, 3), ...(deep && Object.keys(deep).length > 0 ? { deep } : {}) };
  }

  const drawRule = (name: string): PermissionTestFilter | null =>
    chance(0.3) ? null : drawFilter(name, upTo(3), true);

  /** Draws a row rule on a many-to-one row, which the same payload may also change. */
  function drawRelatedRule(name: string): PermissionTestFilter | undefined {
    const fields = Object.entries(of(name).manyToOne).filter(([, to]) => !isSystemCollection(to));
    if (fields.length === 0) return undefined;
    const [field, to] = one(fields);
    const number = Object.keys(of(to).plain).find((other) => of(to).plain[other] === 'number');
    const text = Object.keys(of(to).plain)[0] as string;
    return {
      [field]: number && chance(0.5) ? { [number]: { [one(['_lt', '_gt'])]: 8 } } : { [text]: { _neq: 'new' } },
    };
  }

  return {
    drawRelatedRule,
    drawHalfOfFields,
    drawFilter,
    drawFieldList,
    drawFields,
    drawDeep,
    drawListRequest,
    drawRule,
  };
}

/** The query object that the body of a SEARCH request contains. */
export const buildSearchMethodQuery = ({
  fields,
  keys: _,
  limit = -1,
  sort,
  deep,
  ...rest
}: ListRequest): Record<string, unknown> => ({
  fields: fieldPathsOf(fields),
  limit,
  meta: '*',
  ...rest,
  ...(sort === undefined ? {} : { sort }),
  ...(deep ? { deep: renderDeepParameter(deep) } : {}),
});

export const renderDeepParameter = (deep: NonNullable<ListParameters['deep']>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(deep).map(([field, { deep: below = {}, ...terms }]) => [
      field,
      {
        ...Object.fromEntries(Object.entries(terms).map(([name, value]) => [`_${name}`, value])),
        ...renderDeepParameter(below),
      },
    ]),
  );

export const fieldPathsOf = (nested: FieldTree, before = ''): string[] =>
  Object.entries(nested).flatMap(([name, more]) =>
    more === true ? [before + name] : fieldPathsOf(more, `${before}${name}.`),
  );
