import { expect } from 'chai';
import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  GraphQLSchema,
  printSchema,
  printType,
  validateSchema,
} from 'graphql';
import type { Permission, PermissionAction, PermissionSet } from '../../../../plugins/access/contract.ts';
import type {
  ContributedGraphqlField,
  GraphqlScope,
  SubscriptionSource,
} from '../../../../plugins/graphql/contract.ts';
import { buildCallerGraphqlSchema } from '../../../../plugins/graphql/schema/build.ts';
import {
  type GraphqlFieldBinding,
  graphqlFieldBindingOf,
  type InputFieldBinding,
  inputFieldBindingOf,
} from '../../../../plugins/graphql/schema/field-bindings.ts';
import type { Collection, Column, Field, SchemaOverview } from '../../../../plugins/schema/contract.ts';
import { createFakeAccessService, createPermissionSet } from '../../../support/permissions.ts';
import { buildSketchedSchema, type SchemaSketch } from '../../query/schema-sketch.ts';

/** Changes that a sketch cannot express: `'book.title': { column: { nullable: false } }`, `book: { kind: 'view' }`. */
export type SchemaSketchChanges = Readonly<
  Record<
    string,
    Partial<Omit<Field, 'column'>> &
      Partial<Omit<Collection, 'kind'>> & {
        readonly kind?: Collection['kind'];
        readonly column?: Partial<Column>;
        readonly note?: string;
      }
  >
>;

export function buildSnapshotFromSketch(tables: SchemaSketch, changes: SchemaSketchChanges = {}): SchemaOverview {
  const sketched = buildSketchedSchema(tables);
  const collections = [...sketched.collections.values()].map((collection): [string, Collection] => {
    const fields = [...collection.fields.values()].map((field): [string, Field] => {
      const { column, note, ...more } = changes[`${collection.name}.${field.name}`] ?? {};
      return [
        field.name,
        {
          ...field,
          ...(more as Partial<Field>),
          column: field.column && { ...field.column, ...column },
          meta: note === undefined ? field.meta : ({ ...field.meta, note } as Field['meta']),
        },
      ];
    });
    const { note, ...more } = changes[collection.name] ?? {};
    const meta = note === undefined ? collection.meta : ({ note } as Collection['meta']);
    return [collection.name, { ...collection, ...(more as Partial<Collection>), meta, fields: new Map(fields) }];
  });
  return { ...sketched, collections: new Map(collections) };
}

/** Permissions by collection and action: `{ book: { read: ['id', 'title'] } }`, or a list of several permissions. */
export type RightsByCollection = Readonly<
  Record<string, Partial<Record<PermissionAction, readonly string[] | readonly Partial<Permission>[]>>>
>;

export function buildPermissionSet(all: RightsByCollection, key = 'user'): PermissionSet {
  const rows = Object.entries(all).flatMap(([collection, actions]) =>
    Object.entries(actions).flatMap(([action, granted]): readonly Permission[] => {
      const several =
        typeof granted[0] === 'string' || granted.length === 0 ? [{ fields: granted as readonly string[] }] : granted;
      return (several as readonly Partial<Permission>[]).map((one) => ({
        collection,
        action: action as PermissionAction,
        rule: null,
        validation: null,
        presets: null,
        fields: ['*'],
        ...one,
      }));
    }),
  );
  return createPermissionSet(rows, key);
}

export interface TestGraphqlSchema {
  readonly schema: GraphQLSchema;
  readonly warnings: readonly { readonly message: string; readonly about: Readonly<Record<string, unknown>> }[];
  /** One type in the schema language, without the descriptions of shared types. */
  type(name: string): string;
  has(name: string): boolean;
  /** Names of the fields of a type; empty for a type that the schema does not have. */
  fields(type: string): readonly string[];
  /** Arguments and type of a field such as `Query.book_by_id`, as `(id: ID!): book`. */
  field(path: string): string;
  binding(path: string): GraphqlFieldBinding | undefined;
  /** The binding of a filter entry such as `post_filter.author__person`; undefined where the entry is a field. */
  filterBinding(path: string): InputFieldBinding | undefined;
}

interface TestSchemaOptions {
  readonly permissions?: PermissionSet;
  readonly scope?: GraphqlScope;
  readonly contributed?: readonly ContributedGraphqlField[];
  /** Whether changes of a collection are announced to subscriptions; without it there are no subscriptions. */
  readonly isAnnounced?: SubscriptionSource['isAnnounced'];
}

/** Builds the GraphQL schema of a schema snapshot and asserts that it is valid. */
export function buildTestGraphqlSchema(
  snapshot: SchemaOverview,
  {
    permissions = createPermissionSet('admin'),
    scope = 'items',
    contributed = [],
    isAnnounced,
  }: TestSchemaOptions = {},
): TestGraphqlSchema {
  const warnings: TestGraphqlSchema['warnings'][number][] = [];
  const schema = buildCallerGraphqlSchema({
    snapshot,
    permissions,
    permittedFields: createFakeAccessService().permittedFields,
    scope,
    contributed: contributed.map((value) => ({ owner: 'contributor', value })),
    subscriptions: isAnnounced && { isAnnounced, openEventStream: () => Promise.reject(new Error('not used')) },
    warn: (message, about) => void warnings.push({ message, about }),
  });
  expect(graphqlSchemaErrors(schema)).to.deep.equal([]);
  expect(printSchema(schema)).to.be.a('string');
  const typeNamed = (name: string) => schema.getType(name) as GraphQLObjectType | GraphQLInputObjectType | undefined;
  const fieldAt = (path: string) => {
    const [type = '', field = ''] = path.split('.');
    return typeNamed(type)?.getFields()[field];
  };
  return {
    schema,
    warnings,
    type(name) {
      const type = schema.getType(name);
      if (!type) throw new Error(`there is no type ${name}`);
      return printType(type);
    },
    has: (name) => schema.getType(name) !== undefined,
    fields: (name) => Object.keys(typeNamed(name)?.getFields() ?? {}),
    field: (path) => {
      const field = fieldAt(path);
      if (!field) throw new Error(`there is no ${path}`);
      const args =
        'args' in field && field.args.length > 0
          ? `(${field.args.map((one) => `${one.name}: ${one.type}`).join(', ')})`
          : '';
      return `${args}: ${field.type}`;
    },
    binding: (path) => graphqlFieldBindingOf(fieldAt(path) as GraphQLField<unknown, unknown>),
    filterBinding: (path) => inputFieldBindingOf(fieldAt(path) as GraphQLInputField),
  };
}

/** Messages of the graphql package's schema validation, which the service skips. */
export const graphqlSchemaErrors = (schema: GraphQLSchema): readonly string[] =>
  validateSchema(new GraphQLSchema({ ...schema.toConfig(), assumeValid: false })).map(({ message }) => message);
