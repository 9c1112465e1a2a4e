import { type GraphQLInputFieldConfig, GraphQLInputObjectType, GraphQLList } from 'graphql';
import { OPERATORS } from '../../query/contract.ts';
import type { Field } from '../../schema/contract.ts';
import { boundFilter, UNBOUND } from './binding.ts';
import { enumOf, isKey } from './field-type.ts';
import { functionGroupOf } from './functions.ts';
import { type Granted, targetsOf } from './model.ts';
import { fieldDescription, fieldName, type Named, typeName } from './names.ts';
import { FUNCTION_OPERATORS, OPERATORS_OF, operatorsOf } from './operators.ts';
import type { Types } from './types.ts';

type Entry = readonly [name: string, config: GraphQLInputFieldConfig];

/** Words of the filter language: a field that is called so cannot be told from them. */
const WORDS: ReadonlySet<string> = new Set([...OPERATORS, '_and', '_or', '_some', '_none', '_json']);

/** Conditions on a row: one entry a field, all of them to hold. */
export function filterType(types: Types, collection: string): GraphQLInputObjectType | undefined {
  const named = types.model.names.collections.get(collection);
  if (!named || !types.model.readable.has(collection)) return undefined;
  const type: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: typeName('filter', named.name),
    fields: () => ({ ...entriesOf(types, collection), _and: alternatives(type), _or: alternatives(type) }),
  });
  return type;
}

/** The same on the rows of a list, where one entry by itself means some of them. */
export function quantifierType(types: Types, collection: string): GraphQLInputObjectType | undefined {
  const named = types.model.names.collections.get(collection);
  const filter = types.of('filter', collection);
  if (!named || !filter) return undefined;
  const rows = { type: filter, extensions: UNBOUND };
  return new GraphQLInputObjectType({
    name: typeName('quantifier', named.name),
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
    target ??
    (relation?.kind === 'any'
      ? OPERATORS_OF.string
      : (valuesOf(types, named, field)?.operators ?? operatorsOf(field, isKey(named.collection, field))));
  const called = fieldName(named, field);
  const extensions = called === name ? UNBOUND : boundFilter({ kind: 'key', key: name });
  entries.push([called, { type, description: fieldDescription(named, field), extensions }]);
  const companion = named.companions.get(name);
  const group = functionGroupOf(field);
  if (companion !== undefined && group)
    entries.push([
      companion,
      { type: FUNCTION_OPERATORS[group], extensions: boundFilter({ kind: 'functions', field: name }) },
    ]);
  return entries;
}

const anyEntries = (types: Types, named: Named, { field }: Granted): readonly Entry[] =>
  targetsOf(types.model, named.collection, field).flatMap((target): readonly Entry[] => {
    const type = types.of('filter', target);
    const to = types.model.names.collections.get(target);
    const key = `${field.name}:${target}`;
    return type && to
      ? [[`${fieldName(named, field)}__${to.name}`, { type, extensions: boundFilter({ kind: 'key', key }) }]]
      : [];
  });

/** A list is compared as a whole. */
const valuesOf = (types: Types, { collection }: Named, field: Field) =>
  field.column?.array ? undefined : enumOf(types.model.names.enums, collection, field);
