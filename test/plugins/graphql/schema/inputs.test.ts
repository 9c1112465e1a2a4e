import { expect } from 'chai';
import { buildPermissionSet, buildSnapshotFromSketch, buildTestGraphqlSchema } from './test-schema.ts';

const needed = { column: { nullable: false } } as const;
const tables = {
  page: {
    id: 'integer key',
    title: 'string',
    slug: 'string',
    total: 'integer',
    serial: 'integer',
    created_on: 'timestamp',
    author: 'one person',
    blocks: 'many block.page',
    words: 'csv',
    doc: 'json',
    secret: 'string concealed',
    divider: 'alias',
  },
  person: { id: 'uuid key', name: 'string', pages: 'many page.author' },
  block: { id: 'integer key', page: 'one page', kind: 'string', item: 'any kind person|page' },
};
const snapshot = buildSnapshotFromSketch(tables, {
  'page.id': { column: { nullable: false, autoIncrement: true, default: "nextval('s')" } },
  'page.title': needed,
  'page.slug': { column: { nullable: false, default: "''" } },
  'page.total': { column: { nullable: false, generated: true } },
  'page.serial': { column: { nullable: false, identityAlways: true, autoIncrement: true } },
  'page.created_on': { ...needed, special: ['date-created'] },
  'page.author': needed,
  'page.secret': { ...needed, note: 'Never shown' },
  'person.id': { ...needed, special: ['uuid'] },
  'block.id': needed,
});

describe('payload inputs of a GraphQL schema', () => {
  const one = buildTestGraphqlSchema(snapshot);

  it('payload inputs require in create inputs the fields that neither database nor service fills in', () => {
    expect(one.type('create_page_input')).to.equal(`input create_page_input {
  id: ID
  title: String!
  slug: String
  created_on: Date
  author: nested_person_input!
  blocks: [nested_block_input]
  words: [String]
  doc: JSON

  """Never shown"""
  secret: Hash!
}`);
    expect(one.field('create_person_input.id')).to.equal(': ID');
    expect(one.field('create_block_input.id')).to.equal(': ID!');
  });

  it('payload inputs require nothing in update and nested inputs, which have the key', () => {
    for (const type of ['update_page_input', 'nested_page_input']) {
      expect(one.fields(type), type).to.deep.equal(one.fields('create_page_input'));
      for (const name of one.fields(type)) expect(one.field(`${type}.${name}`), name).to.not.include('!');
    }
    expect(one.field('nested_person_input.pages')).to.equal(': [nested_page_input]');
  });

  it('payload inputs accept the key of a many-to-any as a text', () => {
    expect(one.field('create_block_input.item')).to.equal(': String');
    expect(one.field('create_block_input.kind')).to.equal(': String');
  });

  it('payload inputs have a generated key in update inputs, where it names the row', () => {
    const identity = buildSnapshotFromSketch(
      { a: { id: 'integer key', name: 'string' } },
      { 'a.id': { column: { identityAlways: true, autoIncrement: true } } },
    );
    const other = buildTestGraphqlSchema(identity);
    expect(other.fields('create_a_input')).to.deep.equal(['name']);
    expect(other.fields('update_a_input')).to.deep.equal(['id', 'name']);
  });

  it('payload inputs do not require fields with presets of a permission', () => {
    const permissions = buildPermissionSet({
      page: { create: [{ fields: ['*'], presets: { title: 'new', author: '$CURRENT_USER' } }] },
    });
    const preset = buildTestGraphqlSchema(snapshot, { permissions });
    expect(preset.field('create_page_input.title')).to.equal(': String');
    expect(preset.field('create_page_input.author')).to.equal(': ID');
    expect(preset.field('create_page_input.secret')).to.equal(': Hash!');
  });

  it('payload inputs accept the bare key of related rows that the caller may not write, and no lists of them', () => {
    const other = buildTestGraphqlSchema(snapshot, {
      permissions: buildPermissionSet({ page: { read: ['*'], create: ['*'] }, person: { read: ['*'] } }),
    });
    expect(other.field('create_page_input.author')).to.equal(': ID!');
    expect(other.fields('create_page_input')).to.not.include('blocks');
    expect(other.has('nested_person_input')).to.equal(false);
  });

  it('payload inputs have in nested inputs the fields that the caller may create or update', () => {
    const permissions = buildPermissionSet({
      page: { create: ['title', 'author'] },
      person: { create: ['name'], update: ['pages'] },
    });
    const other = buildTestGraphqlSchema(snapshot, { permissions });
    expect(other.fields('create_page_input')).to.deep.equal(['title', 'author']);
    expect(other.fields('nested_person_input')).to.deep.equal(['id', 'name', 'pages']);
    expect(other.fields('nested_page_input')).to.deep.equal(['id', 'title', 'author']);
    expect(other.fields('update_person_input')).to.deep.equal(['id', 'pages']);
  });

  it('payload inputs do not exist for views', () => {
    const seen = buildSnapshotFromSketch(
      { a: { id: 'integer key', seen: 'one v' }, v: { id: 'integer key' } },
      { v: { kind: 'view' } },
    );
    expect(buildTestGraphqlSchema(seen).field('create_a_input.seen')).to.equal(': Int');
  });
});
