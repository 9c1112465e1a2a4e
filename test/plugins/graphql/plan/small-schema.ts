import {
  assertValidSchema,
  buildSchema,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import type { ContributedGraphqlField } from '../../../../plugins/graphql/contract.ts';
import {
  createFieldBindingExtensions,
  type GraphqlFieldBinding,
  type InputFieldBinding,
  inputFieldExtensions,
} from '../../../../plugins/graphql/schema/field-bindings.ts';
import { createCallerSchema } from './operations.ts';

const LIST = 'filter: posts_filter, sort: [String], limit: Int, offset: Int, page: Int, search: String';
const COMMENTS = 'filter: comments_filter, sort: [String], limit: Int, offset: Int, page: Int, search: String';

/** A hand-written schema like those built from collections, to test the translation of documents without a database. */
const SDL = `
  scalar JSON
  scalar Void
  type Query {
    posts(${LIST}): [posts!]!
    posts_by_id(id: ID!): posts
    posts_aggregated(groupBy: [String], ${LIST}): [posts_aggregated!]!
    about: about
    _empty: Void
    server_state: state
    server_name: String!
    users_me: people
  }
  type Mutation {
    create_posts_item(data: create_posts_input!): posts
    create_posts_items(data: [create_posts_input!], ${LIST}): [posts!]!
    update_posts_item(id: ID!, data: update_posts_input!): posts
    update_posts_items(ids: [ID]!, data: update_posts_input!, ${LIST}): [posts!]!
    update_posts_batch(data: [update_posts_input!], ${LIST}): [posts!]!
    update_about(data: update_about_input!): about
    delete_posts_item(id: ID!): delete_one
    delete_posts_items(ids: [ID]!): delete_many
    create_notes_item(data: update_about_input!): Boolean
    sign_in(name: String!): Boolean
    sign_out(name: String): Boolean
    rename_me(name: String!): people
  }
  type delete_one { id: ID! }
  type delete_many { ids: [ID]! }
  type state { name: String size: Int! parts(most: Int): [state] }
  type posts {
    id: ID!
    title: String
    views: Float
    published: String
    published_func: date_functions
    meta: JSON
    meta_func: posts_meta_func
    author: people
    editor: people
    comments(${COMMENTS}): [comments!]
    blocks(${COMMENTS}): [blocks!]
  }
  type date_functions { year: Int month: Int }
  type posts_meta_func { count: Int json(path: String!): JSON }
  type people { id: ID! name: String posts(${LIST}): [posts!] }
  type comments { id: ID! text: String post: posts }
  type blocks { id: ID! collection: String item: blocks_item_union }
  type headings { id: ID! text: String people: people }
  type images { id: ID! url: String text: Int }
  union blocks_item_union = headings | images
  type about { title: String author: people }
  type posts_aggregated { group: JSON countAll: Int count: posts_aggregated_count avg: posts_aggregated_fields }
  type posts_aggregated_count { id: Int title: Int }
  type posts_aggregated_fields { views: Float }
  input create_posts_input { title: String! views: Float meta: JSON comments: [nested_comments_input] }
  input update_posts_input { id: ID title: String }
  input update_about_input { title: String }
  input nested_comments_input { id: ID text: String }
  input posts_filter {
    id: id_operators
    title: text_operators
    published_func: year_operators
    meta: json_operators
    author: people_filter
    comments: comments_quantifier_filter
    _and: [posts_filter]
    _or: [posts_filter]
  }
  input people_filter { name: text_operators _and: [people_filter] }
  input comments_filter { text: text_operators post: posts_filter item__headings: people_filter }
  input comments_quantifier_filter { text: text_operators _some: comments_filter _none: comments_filter }
  input id_operators { _eq: ID _in: [ID] _null: Boolean }
  input text_operators { _eq: String _in: [String] _null: Boolean _contains: String }
  input year_operators { year: number_operators }
  input number_operators { _gt: Int }
  input json_operators { _json: JSON _null: Boolean }
`;

const column = (field: string, as?: 'text' | 'number'): GraphqlFieldBinding =>
  as ? { kind: 'column', field, as } : { kind: 'column', field };

const BINDINGS: Readonly<Record<string, GraphqlFieldBinding>> = {
  'Query.posts': { kind: 'list', collection: 'posts' },
  'Query.posts_by_id': { kind: 'by id', collection: 'posts' },
  'Query.posts_aggregated': { kind: 'aggregated', collection: 'posts' },
  'Query.about': { kind: 'singleton', collection: 'about' },
  'Query._empty': { kind: 'nothing' },
  'Mutation.create_posts_item': { kind: 'create one', collection: 'posts', returnsRows: true },
  'Mutation.create_posts_items': { kind: 'create many', collection: 'posts', returnsRows: true },
  'Mutation.update_posts_item': { kind: 'update one', collection: 'posts', returnsRows: true },
  'Mutation.update_posts_items': { kind: 'update many', collection: 'posts', returnsRows: true },
  'Mutation.update_posts_batch': { kind: 'update each', collection: 'posts', returnsRows: true },
  'Mutation.update_about': { kind: 'update singleton', collection: 'about', returnsRows: true },
  'Mutation.delete_posts_item': { kind: 'delete one', collection: 'posts', returnsRows: true },
  'Mutation.delete_posts_items': { kind: 'delete many', collection: 'posts', returnsRows: true },
  'Mutation.create_notes_item': { kind: 'create one', collection: 'notes', returnsRows: false },
  'posts.id': column('id', 'text'),
  'posts.title': column('title'),
  'posts.views': column('views', 'number'),
  'posts.published': column('published'),
  'posts.published_func': { kind: 'functions', field: 'published' },
  'posts.meta': column('meta'),
  'posts.meta_func': { kind: 'functions', field: 'meta' },
  'posts.author': { kind: 'related', field: 'author' },
  'posts.editor': { kind: 'related', field: 'editor' },
  'posts.comments': { kind: 'related', field: 'comments' },
  'posts.blocks': { kind: 'related', field: 'blocks' },
  'date_functions.year': { kind: 'function', fn: 'year' },
  'date_functions.month': { kind: 'function', fn: 'month' },
  'posts_meta_func.count': { kind: 'function', fn: 'count' },
  'posts_meta_func.json': { kind: 'function', fn: 'json' },
  'people.id': column('id', 'text'),
  'people.name': column('name'),
  'people.posts': { kind: 'related', field: 'posts' },
  'comments.id': column('id', 'text'),
  'comments.text': column('text'),
  'comments.post': { kind: 'related', field: 'post' },
  'blocks.id': column('id', 'text'),
  'blocks.collection': column('collection'),
  'blocks.item': { kind: 'any', field: 'item' },
  'headings.id': column('id', 'text'),
  'headings.text': column('text'),
  'headings.people': { kind: 'related', field: 'people' },
  'images.id': column('id', 'text'),
  'images.url': column('url'),
  'images.text': column('size'),
  'about.title': column('title'),
  'about.author': { kind: 'related', field: 'author' },
  'posts_aggregated.group': { kind: 'groups' },
  'posts_aggregated.countAll': { kind: 'count' },
  'posts_aggregated.count': { kind: 'aggregate', name: 'count' },
  'posts_aggregated.avg': { kind: 'aggregate', name: 'avg' },
  'posts_aggregated_count.id': { kind: 'aggregated field', field: 'id' },
  'posts_aggregated_count.title': { kind: 'aggregated field', field: 'title' },
  'posts_aggregated_fields.views': { kind: 'aggregated field', field: 'views' },
};

const FILTERS: Readonly<Record<string, InputFieldBinding>> = {
  'posts_filter.published_func': { kind: 'functions', field: 'published' },
  'comments_filter.item__headings': { kind: 'key', key: 'item:headings' },
};

/** Builds the schema with contributed fields, by `Query.<name>` or `Mutation.<name>`. */
export function createSmallSchema(contributed: Readonly<Record<string, Partial<ContributedGraphqlField>>> = {}) {
  const schema = buildSchema(SDL);
  for (const [name, binding] of Object.entries(BINDINGS))
    setExtensions(schema, name, createFieldBindingExtensions(binding));
  for (const [name, binding] of Object.entries(FILTERS)) setExtensions(schema, name, inputFieldExtensions(binding));
  for (const [name, field] of Object.entries(contributed))
    setExtensions(
      schema,
      name,
      createFieldBindingExtensions({ kind: 'contributed', field: field as ContributedGraphqlField }),
    );
  assertValidSchema(schema);
  return createCallerSchema(schema);
}

function setExtensions(schema: GraphQLSchema, name: string, extensions: object): void {
  const [type = '', field = ''] = name.split('.');
  const fields = (schema.getType(type) as GraphQLObjectType | GraphQLInputObjectType).getFields();
  Object.assign(fields[field]?.extensions as object, extensions);
}
