import { fail } from '#kernel';
import type { Collection, FieldType } from '../../schema/contract.ts';
import { AGGREGATES, type AggregateName, type Aggregation, type FieldUse } from '../contract.ts';
import { useOf } from './functions.ts';
import { answerKey, nameOf } from './names.ts';
import { type Scope, spend } from './scope.ts';
import { fromJson, hintOf, invalid, isObject, type Path, parameterAt, textList } from './shape.ts';
import { directed } from './sort.ts';

interface Raw {
  readonly aggregate?: unknown;
  readonly groupBy?: unknown;
  readonly sort?: unknown;
}

const NUMERIC: readonly FieldType[] = ['integer', 'bigInteger', 'decimal', 'float'];
const COMPARABLE: readonly FieldType[] = [
  ...NUMERIC,
  ...(['date', 'dateTime', 'timestamp', 'time', 'string', 'text', 'uuid'] as const),
];

/** `aggregate` and `groupBy` (conventions, "Aggregation"); undefined where neither is asked for. */
export function parseAggregate(
  scope: Scope,
  collection: Collection,
  raw: Raw,
  aliases: ReadonlyMap<string, string>,
  path: Path,
): Aggregation | undefined {
  const parts = aggregateParts(scope, collection, raw, aliases, path);
  const { groups, functions } = parts;
  if (groups.length === 0 && functions.length === 0) return undefined;
  // Both are members of one object here.
  checkNames(groups, new Set(functions.map(({ name }) => name)), path);
  return ordered(parts, raw.sort, path);
}

type Parts = Omit<Aggregation, 'order'>;

/** What is grouped by and what is computed; both may be nothing. */
export function aggregateParts(
  scope: Scope,
  collection: Collection,
  raw: Raw,
  aliases: ReadonlyMap<string, string>,
  path: Path,
): Parts {
  const asked = fromJson(raw.aggregate, parameterAt(path, 'aggregate')) ?? {};
  if (!isObject(asked)) throw invalid('must be an object of functions', parameterAt(path, 'aggregate'));
  const groups = [...new Set(textList(raw.groupBy, parameterAt(path, 'groupBy')))].map((entry, index) => {
    const at = [...parameterAt(path, 'groupBy'), index];
    spend(scope, at);
    return groupOf(scope, collection, entry, aliases, at);
  });
  const functions = Object.entries(asked).flatMap(([name, fields]) =>
    functionsOf(scope, collection, name, fields, [...parameterAt(path, 'aggregate'), name]),
  );
  checkNames(groups, new Set(), path);
  return { groups, functions };
}

export const ordered = (parts: Parts, sort: unknown, path: Path): Aggregation => ({
  ...parts,
  order: orderOf(parts, sort, parameterAt(path, 'sort')),
});

function checkNames(groups: Aggregation['groups'], others: ReadonlySet<string>, path: Path): void {
  for (const [index, { key }] of groups.entries()) {
    if (others.has(key) || groups.findIndex((one) => one.key === key) !== index)
      throw invalid(`two things would be called "${key}": give one an alias`, [...parameterAt(path, 'groupBy'), index]);
  }
}

function groupOf(
  scope: Scope,
  collection: Collection,
  entry: string,
  aliases: ReadonlyMap<string, string>,
  at: Path,
): Aggregation['groups'][number] {
  const text = aliases.get(entry) ?? entry;
  if (!text.includes('(') && text.includes('.')) throw invalid('groups are fields of the collection itself', at);
  const use = plain(useOf(scope, collection, text, at));
  const { type, column, parts } = use.field;
  if (use.fn?.name === 'json' || (!use.fn && ((!column && !parts) || type === 'json' || type.startsWith('geometry'))))
    throw invalid(`cannot group by ${entry.slice(0, 60)}`, at);
  const key = use.fn ? answerKey(nameOf(text, at), at) : use.field.name;
  return { key: aliases.has(entry) ? entry : key, use };
}

function functionsOf(
  scope: Scope,
  collection: Collection,
  asked: string,
  fields: unknown,
  path: Path,
): Aggregation['functions'] {
  const name = AGGREGATES.find((one) => one === asked);
  if (!name) throw invalid(`there is no aggregate "${asked.slice(0, 40)}"${hintOf(asked, AGGREGATES)}`, path);
  const keys = [...new Set(name === 'countAll' ? ['*'] : textList(fields, path))];
  if (keys.length === 0) throw invalid('names no field', path);
  return keys.map((key, index) => {
    const at = [...path, index];
    spend(scope, at);
    if (key === '*') {
      if (!name.startsWith('count')) throw invalid(`${name} needs a field`, at);
      return { name, key, use: null };
    }
    const use = plain(useOf(scope, collection, key, at));
    checkFits(name, use, at);
    return { name, key, use };
  });
}

function checkFits(name: AggregateName, { field, fn }: FieldUse, at: Path): void {
  if (fn) throw invalid('takes fields, not functions of them', at);
  const fits = name.startsWith('count')
    ? field.column !== null || field.parts !== undefined
    : name === 'min' || name === 'max'
      ? COMPARABLE.includes(field.type) && !field.column?.array
      : NUMERIC.includes(field.type) && !field.column?.array;
  if (!fits) throw invalid(`${name} does not fit a field of type ${field.type}`, at);
}

/** Groups of a concealed value, or how many there are, would tell what is concealed. */
function plain(use: FieldUse): FieldUse {
  if (use.field.concealed) throw fail('FORBIDDEN', `${use.field.name} is concealed and cannot be aggregated`);
  return use;
}

/** By groups or aggregates, as they are called in the answer; without a word by the groups in their order. */
function orderOf({ groups, functions }: Parts, sort: unknown, path: Path): Aggregation['order'] {
  const asked = textList(sort, path).map((entry, index) => {
    const { text, descending } = directed(entry);
    const group = groups.findIndex(({ key, use }) => key === text || (!use.fn && use.field.name === text));
    if (group >= 0) return { of: 'groups', at: group, descending } as const;
    const called = groups.findIndex(({ use }) => use.fn && text === `${use.fn.name}(${use.field.name})`);
    if (called >= 0) return { of: 'groups', at: called, descending } as const;
    const dot = text.indexOf('.');
    const [name, key] = dot < 0 ? [text, undefined] : [text.slice(0, dot), text.slice(dot + 1)];
    const found = functions.findIndex((one) => one.name === name && (key === undefined || one.key === key));
    if (found < 0) throw invalid('groups are sorted by what they are grouped by or by an aggregate', [...path, index]);
    return { of: 'functions', at: found, descending } as const;
  });
  const named = new Set(asked.filter(({ of }) => of === 'groups').map(({ at }) => at));
  const rest = groups.flatMap((_, at) => (named.has(at) ? [] : [{ of: 'groups', at, descending: false } as const]));
  return [...asked, ...rest];
}
