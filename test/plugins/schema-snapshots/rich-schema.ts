import { expect } from 'chai';
import type { SnapshotService } from './snapshot-fixture.ts';

export const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };

const COLLECTIONS = [
  {
    collection: 'tags',
    schema: {},
    meta: { group: 'folder', sort: 1 },
    fields: [key, { field: 'name', type: 'string', meta: { note: 'n' }, schema: { is_unique: true } }],
  },
  {
    collection: 'article',
    schema: {},
    meta: {
      accountability: 'activity',
      note: 'Texts',
      translations: [{ language: 'de-DE', translation: 'Artikel' }],
    },
    fields: [
      { field: 'id', type: 'uuid', schema: { is_primary_key: true }, meta: { special: ['uuid'] } },
      { field: 'title', type: 'string', schema: { max_length: 80, is_nullable: false, is_indexed: true } },
      {
        field: 'status',
        type: 'string',
        schema: { default_value: 'draft' },
        meta: {
          interface: 'select-dropdown',
          options: { choices: [{ text: 'Draft', value: 'draft' }] },
          validation: { status: { _nnull: true } },
        },
      },
      { field: 'words', type: 'csv' },
      { field: 'settings', type: 'json' },
      { field: 'secret', type: 'hash' },
      { field: 'sort', type: 'integer' },
      { field: 'parent', type: 'uuid', meta: { special: ['m2o'] } },
      { field: 'author', type: 'uuid', meta: { special: ['user-created'] } },
      { field: 'picture', type: 'uuid', meta: { special: ['file'] } },
      {
        field: 'line',
        type: 'alias',
        meta: { special: ['alias', 'no-data'], interface: 'presentation-divider' },
      },
    ],
  },
  {
    collection: 'site',
    schema: {},
    meta: { singleton: true },
    fields: [key, { field: 'created', type: 'timestamp', schema: { default_value: 'now()' } }],
  },
  {
    collection: 'article_tags',
    schema: {},
    meta: { hidden: true },
    fields: [key, { field: 'article_id', type: 'uuid' }, { field: 'tags_id', type: 'integer' }],
  },
  {
    collection: 'article_blocks',
    schema: {},
    fields: [
      key,
      { field: 'article_id', type: 'uuid' },
      { field: 'item', type: 'string' },
      { field: 'collection', type: 'string' },
    ],
  },
];

const RELATIONS = [
  {
    collection: 'article',
    field: 'parent',
    related_collection: 'article',
    meta: { one_field: 'children', sort_field: 'sort' },
  },
  {
    collection: 'article',
    field: 'author',
    related_collection: 'platform_users',
    meta: { one_field: 'articles' },
    schema: { on_delete: 'SET NULL' },
  },
  { collection: 'article', field: 'picture', related_collection: 'platform_files' },
  { collection: 'platform_users', field: 'favourite', related_collection: 'article' },
  {
    collection: 'article_tags',
    field: 'article_id',
    related_collection: 'article',
    meta: { one_field: 'tags', junction_field: 'tags_id', one_deselect_action: 'delete' },
    schema: { on_delete: 'CASCADE' },
  },
  {
    collection: 'article_tags',
    field: 'tags_id',
    related_collection: 'tags',
    meta: { junction_field: 'article_id' },
  },
  {
    collection: 'article_blocks',
    field: 'article_id',
    related_collection: 'article',
    meta: { one_field: 'blocks', junction_field: 'item' },
  },
  {
    collection: 'article_blocks',
    field: 'item',
    related_collection: null,
    meta: {
      one_collection_field: 'collection',
      one_allowed_collections: ['tags', 'site'],
      junction_field: 'article_id',
    },
  },
];

/** Creates collections with relations of all shapes, a folder, a singleton, and custom fields of users, over the API. */
export async function createRichSchema({ send }: Pick<SnapshotService, 'send'>): Promise<void> {
  const change = async (method: 'POST' | 'PATCH', path: string, body: unknown) => {
    const reply = await send(method, path, body);
    expect(reply.status, `${path} ${JSON.stringify(reply.body)}`).to.equal(200);
  };
  const folder = { collection: 'folder', meta: { icon: 'folder', collapse: 'closed' }, schema: null };
  await change('POST', '/collections', folder);
  await change('POST', '/collections', COLLECTIONS);
  for (const [field, special] of [
    ['children', 'o2m'],
    ['tags', 'm2m'],
    ['blocks', 'm2a'],
  ])
    await change('POST', '/fields/article', { field, type: 'alias', meta: { special: [special] } });
  const meta = { sort_field: 'sort', archive_field: 'status', archive_value: 'archived' };
  await change('PATCH', '/collections/article', { meta });
  await change('POST', '/fields/platform_users', { field: 'favourite', type: 'uuid', meta: { note: 'custom' } });
  await change('POST', '/fields/platform_users', { field: 'articles', type: 'alias', meta: { special: ['o2m'] } });
  for (const relation of RELATIONS) await change('POST', '/relations', relation);
}
