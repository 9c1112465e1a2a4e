import { type GraphQLInputFieldConfig, GraphQLInputObjectType, GraphQLList } from 'graphql';
import { OPERATORS } from '../../query/contract.ts';
import { boundFilter, UNBOUND } from './binding.ts';
import { isKey } from './field-type.ts';
import { functionGroupOf } from './functions.ts';
import { type Granted, targetsOf } from './model.ts';
import { companionName, type Named, typeName } from './names.ts';
import { FUNCTION_OPERATORS, OPERATORS_OF, operatorsOf } from './operators.ts';
import type { Types } from './types.ts';

type Entry = readonly [name: string, config: GraphQLInputFieldConfig];

/** Words of the filter language: a field that is called so cannot be told from them. */
const WORDS: ReadonlySet<string> = new Set([...OPERATORS, '_and', '_or', '_some', '_none', '_json']);

/** Conditions on a row: one entry a field, all of them to hold. */
export function filterType(types: Types, collection: string): GraphQLInputObjectType | undefined {
  if (!types.model.readable.has(collection)) return undefined;
  const type: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: typeName('filter', collection),
    fields: () => ({ ...entriesOf(types, collection), _and: alternatives(type), _or: alternatives(type) }),
  });
  return type;
}

/** The same on the rows of a list, where one entry by itself means some of them. */
export function quantifierType(types: Types, collection: string): GraphQLInputObjectType | undefined {
  const filter = types.of('filter', collection);
  if (!filter) return undefined;
  const rows = { type: filter, extensions: UNBOUND };
  return new GraphQLInputObjectType({
    name: typeName('quantifier', collection),
    fields: () => ({ ...filter.getFields(), _some: rows, _none: rows }),
  });
}

const alternatives = (filter: GraphQLInputObjectType): GraphQLInputFieldConfig => ({
  type: new GraphQLList(filter),
  extensions: UNBOUND,
});

function entriesOf(types: Types, collection: string): Record<string, GraphQLInputFieldConfig> {
  const named = types.model.names.collections.get(collection);
  const shown = types.model.readable.get(collection) ?? [];
  if (!named) return {};
  const plain = shown.filter(({ field }) => !WORDS.has(field.name));
  const own = plain.flatMap((one) => entryOf(types, named, one));
  const taken = new Set(own.map(([name]) => name));
  // `<field>__<collection>` may be what another field is called.
  const anys = plain.flatMap((one) => anyEntries(types, named, one)).filter(([name]) => !taken.has(name));
  return Object.fromEntries([...own, ...anys]);
}

function entryOf(types: Types, named: Named, { field }: Granted): readonly Entry[] {
  const { relation, name } = field;
  const entries: Entry[] = [];
  const target =
    relation?.kind === 'one'
      ? types.of('filter', relation.to)
      : relation?.kind === 'many'
        ? types.of('quantifier', relation.to)
        : undefined;
  // A many-to-any holds keys of several types, as texts.
  const type =
    target ?? (relation?.kind === 'any' ? OPERATORS_OF.string : operatorsOf(field, isKey(named.collection, field)));
  entries.push([name, { type, description: field.meta?.note, extensions: UNBOUND }]);
  const group = named.companions.has(name) ? functionGroupOf(field) : undefined;
  if (group)
    entries.push([
      companionName(name),
      { type: FUNCTION_OPERATORS[group], extensions: boundFilter({ kind: 'functions', field: name }) },
    ]);
  return entries;
}

const anyEntries = (types: Types, { collection }: Named, { field }: Granted): readonly Entry[] =>
  targetsOf(types.model, collection, field).flatMap((target): readonly Entry[] => {
    const type = types.of('filter', target);
    const key = `${field.name}:${target}`;
    return type ? [[`${field.name}__${target}`, { type, extensions: boundFilter({ kind: 'key', key }) }]] : [];
  });
