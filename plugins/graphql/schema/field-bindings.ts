import type { GraphQLField, GraphQLInputField, GraphQLObjectType } from 'graphql';
import type { AggregateName, ColumnOutputFormat } from '../../query/contract.ts';
import type { ContributedGraphqlField } from '../contract.ts';

// What the fields of a schema mean, in their `extensions`: set when types are built, read when documents run, so that
// no code has to parse names.

export type GraphqlFieldBinding = RootFieldBinding | RowFieldBinding | GroupFieldBinding | RowChangeFieldBinding;

/** Fields of `Query`, `Mutation` and `Subscription`. */
export type RootFieldBinding =
  /** `<c>`, `<c>` of a singleton, `<c>_by_id(id)`, `<c>_aggregated`. */
  | { readonly kind: 'list' | 'singleton' | 'by id' | 'aggregated'; readonly collection: string }
  /**
   * `create_<c>_item(data)`, `create_<c>_items(data)`, `update_<c>_item(id, data)`, `update_<c>_items(ids, data)`,
   * `update_<c>_batch(data)`, `update_<c>(data)`, `delete_<c>_item(id)`, `delete_<c>_items(ids)`.
   */
  | {
      readonly kind:
        | 'create one'
        | 'create many'
        | 'update one'
        | 'update many'
        | 'update each'
        | 'update singleton'
        | 'delete one'
        | 'delete many';
      readonly collection: string;
      /** The mutation answers the written rows; false: a Boolean, since the caller may not read them. */
      readonly returnsRows: boolean;
    }
  /** `<c>_mutated(event)` */
  | { readonly kind: 'row changes'; readonly collection: string }
  | { readonly kind: 'contributed'; readonly field: ContributedGraphqlField }
  /** `_empty`: the only field of an empty schema. */
  | { readonly kind: 'nothing' };

/** Fields of the object type of a collection, and of `<field>_func` below it. */
export type RowFieldBinding =
  | { readonly kind: 'column'; readonly field: string; readonly as?: ColumnOutputFormat }
  /** A many-to-one or a to-many alias; the latter's field has the list arguments. */
  | { readonly kind: 'related'; readonly field: string }
  /** A many-to-any: its type is a union of the types of collections. */
  | { readonly kind: 'any'; readonly field: string }
  /** `<field>_func`: an object of the fields below, which are functions of `field`. */
  | { readonly kind: 'functions'; readonly field: string }
  /** `year`, `count`, `json(path)` of the field of the parent object, whose type many fields share. */
  | { readonly kind: 'function'; readonly fn: string };

/** Fields of `<c>_aggregated` and of the objects below it. */
export type GroupFieldBinding =
  | { readonly kind: 'groups' }
  | { readonly kind: 'count' }
  | { readonly kind: 'aggregate'; readonly name: AggregateName }
  | { readonly kind: 'aggregated field'; readonly field: string };

/** Fields of `<c>_mutated`. */
export type RowChangeFieldBinding =
  /** `isReadable`: the caller may read the key of every row; otherwise the field is null. */
  | { readonly kind: 'changed key'; readonly isReadable: boolean }
  | { readonly kind: 'change event' }
  | { readonly kind: 'changed row' };

const BINDING = Symbol('binding');

/**
 * The `extensions` of a field. The object has no prototype, since the graphql package copies all others, and creates an
 * empty object when there are none, for each of the many thousand fields and arguments of a schema.
 */
export const createFieldBindingExtensions = (binding: GraphqlFieldBinding): GraphqlExtensions => {
  const extensions: Record<symbol, GraphqlFieldBinding> = Object.create(null);
  extensions[BINDING] = binding;
  return extensions;
};

export type GraphqlExtensions = Readonly<Record<symbol, unknown>>;

/** `extensions` of fields and arguments without a binding. */
export const NO_GRAPHQL_EXTENSIONS: GraphqlExtensions = Object.freeze(Object.create(null));

/** What a field of the schema means; undefined for introspection fields, and below contributed fields. */
export const graphqlFieldBindingOf = (field: GraphQLField<unknown, unknown>): GraphqlFieldBinding | undefined =>
  field.extensions[BINDING] as GraphqlFieldBinding | undefined;

const COLLECTION = Symbol('collection');

/** The `extensions` of the type of a collection, whose name may be an alias. */
export const collectionTypeExtensions = (collection: string): GraphqlExtensions => {
  const extensions: Record<symbol, string> = Object.create(null);
  extensions[COLLECTION] = collection;
  return extensions;
};

/** The collection of an object type. */
export const collectionOfObjectType = ({ name, extensions }: GraphQLObjectType): string =>
  (extensions[COLLECTION] as string | undefined) ?? name;

// Inputs: most names are those of REST. The bindings of all others hold the name in REST.

/** The key of an input field in a filter or payload of REST. */
export type InputFieldBinding =
  /** `item__headings` is `item:headings`, `zip_u0020_code` is `zip code`. */
  | { readonly kind: 'key'; readonly key: string }
  /** `<field>_func`: `{ year: { _gt: 2020 } }` is `{ "year(field)": { _gt: 2020 } }`. */
  | { readonly kind: 'functions'; readonly field: string };

const FILTER = Symbol('filter');

export const inputFieldExtensions = (binding: InputFieldBinding): GraphqlExtensions => {
  const extensions: Record<symbol, InputFieldBinding> = Object.create(null);
  extensions[FILTER] = binding;
  return extensions;
};

/** The key or the functions that an input field stands for; undefined for a field with the same name in REST. */
export const inputFieldBindingOf = (field: GraphQLInputField): InputFieldBinding | undefined =>
  field.extensions[FILTER] as InputFieldBinding | undefined;
