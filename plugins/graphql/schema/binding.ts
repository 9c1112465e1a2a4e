import type { GraphQLField, GraphQLInputField, GraphQLObjectType } from 'graphql';
import type { AggregateName, ColumnForm } from '../../query/contract.ts';
import type { GraphqlField } from '../contract.ts';

// What fields of a schema stand for, kept in their `extensions`: made where types are made, read where documents are run,
// so that neither has to take names apart.

export type Binding = RootBinding | RowBinding | GroupBinding;

/** Fields of `Query` and `Mutation`. */
export type RootBinding =
  /** `<c>`, `<c>` of a singleton, `<c>_by_id(id)`, `<c>_aggregated`. */
  | { readonly kind: 'list' | 'singleton' | 'by id' | 'aggregated'; readonly collection: string }
  /** `create_<c>_item(data)`, `create_<c>_items(data)`, `update_<c>_item(id, data)`, `update_<c>_items(ids, data)`, `update_<c>_batch(data)`, `update_<c>(data)`, `delete_<c>_item(id)`, `delete_<c>_items(ids)`. */
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
      /** The result is the row (or rows) written; otherwise a Boolean, where the caller may not read them. */
      readonly returnsRows: boolean;
    }
  | { readonly kind: 'contributed'; readonly field: GraphqlField }
  /** `_empty`: there is nothing else. */
  | { readonly kind: 'nothing' };

/** Fields of the object type of a collection, and of `<field>_func` below it. */
export type RowBinding =
  | { readonly kind: 'column'; readonly field: string; readonly as?: ColumnForm }
  /** A many-to-one or a to-many alias; the latter's field has the list arguments. */
  | { readonly kind: 'related'; readonly field: string }
  /** A many-to-any: its type is a union of the types of collections. */
  | { readonly kind: 'any'; readonly field: string }
  /** `<field>_func`: an object of the fields below, which are functions of `field`. */
  | { readonly kind: 'functions'; readonly field: string }
  /** `year`, `count`, `json(path)` of the field that the object around is of: many fields share its type. */
  | { readonly kind: 'function'; readonly fn: string };

/** Fields of `<c>_aggregated` and of the objects below it. */
export type GroupBinding =
  | { readonly kind: 'groups' }
  | { readonly kind: 'count' }
  | { readonly kind: 'aggregate'; readonly name: AggregateName }
  | { readonly kind: 'aggregated field'; readonly field: string };

const BINDING = Symbol('binding');

/**
 * For `extensions` of a field. Without a prototype, since that is what GraphQL keeps as it is: of anything else it makes a
 * copy, and of nothing an empty object, for each of the many thousand fields and arguments of a schema.
 */
export const bindingExtensions = (binding: Binding): Extensions => {
  const extensions: Record<symbol, Binding> = Object.create(null);
  extensions[BINDING] = binding;
  return extensions;
};

export type Extensions = Readonly<Record<symbol, unknown>>;

/** For what stands for nothing but itself. */
export const NO_EXTENSIONS: Extensions = Object.freeze(Object.create(null));

/** Undefined for the fields of GraphQL itself, and below contributed ones. */
export const bindingOf = (field: GraphQLField<unknown, unknown>): Binding | undefined =>
  field.extensions[BINDING] as Binding | undefined;

const COLLECTION = Symbol('collection');

/** For `extensions` of the type of a collection's rows, which may have another name. */
export const collectionExtensions = (collection: string): Extensions => {
  const extensions: Record<symbol, string> = Object.create(null);
  extensions[COLLECTION] = collection;
  return extensions;
};

/** Of a type of rows. */
export const collectionOf = ({ name, extensions }: GraphQLObjectType): string =>
  (extensions[COLLECTION] as string | undefined) ?? name;

// Inputs: most names are those of REST. The others say what they are there.

/** Of a field of a filter or a payload: its key in one of REST. */
export type FilterBinding =
  /** `item__headings` is `item:headings`, `zip_u0020_code` is `zip code`. */
  | { readonly kind: 'key'; readonly key: string }
  /** `<field>_func`: `{ year: { _gt: 2020 } }` is `{ "year(field)": { _gt: 2020 } }`. */
  | { readonly kind: 'functions'; readonly field: string };

const FILTER = Symbol('filter');

export const filterExtensions = (binding: FilterBinding): Extensions => {
  const extensions: Record<symbol, FilterBinding> = Object.create(null);
  extensions[FILTER] = binding;
  return extensions;
};

/** Undefined where the name is that of REST. */
export const filterBindingOf = (field: GraphQLInputField): FilterBinding | undefined =>
  field.extensions[FILTER] as FilterBinding | undefined;
