import { expect } from 'chai';
import { fail } from '#kernel';
import { createTestGraphqlExecutor, type RecordedItemsCall } from './test-executor.ts';

/** The keys that a write with these arguments answers. */
const keys = ({ verb, args }: RecordedItemsCall): unknown =>
  verb === 'deleteMany' || verb === 'updateMany'
    ? (args[0] as unknown[]).map(Number)
    : verb === 'createMany' || verb === 'updateEach'
      ? (args[0] as unknown[]).map((_, at) => at + 1)
      : 7;

const verbs = (calls: readonly RecordedItemsCall[]) => calls.map(({ verb }) => verb);

describe('executing GraphQL mutations', () => {
  it('creates a row and reads it back by its key', async () => {
    const { answer, calls, reads } = createTestGraphqlExecutor({ write: keys, select: ({ key }) => `{"key":${key}}` });
    const { data } = await answer('mutation { created: create_posts_item(data: { title: "x" }) { id title } }');
    expect(data).to.deep.equal({ created: { key: 7 } });
    expect(calls).to.deep.equal([
      { verb: 'createOne', collection: 'posts', args: [{ title: 'x' }] },
      { verb: 'select', collection: 'posts', args: [] },
    ]);
    expect(reads[0]?.key).to.equal(7);
  });

  it('calls the items verb of each mutation', async () => {
    const { answer, calls, reads } = createTestGraphqlExecutor({ write: keys, select: () => '"read"' });
    const { data } = await answer(`mutation {
      a: create_posts_items(data: [{ title: "x" }, { title: "y" }]) { id }
      b: update_posts_item(id: "3", data: { title: "z" }) { id }
      c: update_posts_items(ids: ["5", 4], data: { title: "z" }) { id }
      d: update_posts_batch(data: [{ id: 1, title: "z" }]) { id }
      e: update_about(data: { title: "t" }) { title }
      f: create_notes_item(data: {})
    }`);
    expect(data).to.deep.equal({ a: 'read', b: 'read', c: 'read', d: 'read', e: 'read', f: true });
    expect(calls.filter(({ verb }) => verb !== 'select')).to.deep.equal([
      { verb: 'createMany', collection: 'posts', args: [[{ title: 'x' }, { title: 'y' }]] },
      { verb: 'updateOne', collection: 'posts', args: ['3', { title: 'z' }] },
      { verb: 'updateMany', collection: 'posts', args: [['5', '4'], { title: 'z' }] },
      { verb: 'updateEach', collection: 'posts', args: [[{ id: '1', title: 'z' }]] },
      { verb: 'upsertSingleton', collection: 'about', args: [{ title: 't' }] },
      { verb: 'createOne', collection: 'notes', args: [{}] },
    ]);
    expect(reads.map(({ collection, key, keys }) => key ?? keys ?? collection)).to.deep.equal([
      [1, 2],
      7,
      [5, 4],
      [1],
      7,
    ]);
  });

  it('passes ordinary objects, without members of missing variables', async () => {
    const { answer, calls } = createTestGraphqlExecutor({ write: keys, select: () => 'null' });
    const text = `mutation ($meta: JSON, $views: Float, $text: String) {
      create_posts_item(data: { title: "x", views: $views, meta: { a: [{ b: 1 }], v: $meta }, comments: [{ text: $text }, null] }) { id }
    }`;
    await answer(text, { meta: { deep: true } });
    const [{ args }] = calls as [RecordedItemsCall];
    expect(args[0]).to.deep.equal({ title: 'x', meta: { a: [{ b: 1 }], v: { deep: true } }, comments: [{}, null] });
    const prototypes = (value: unknown): unknown[] =>
      typeof value === 'object' && value !== null
        ? [Object.getPrototypeOf(value), ...Object.values(value).flatMap(prototypes)]
        : [];
    expect(new Set(prototypes(args[0]))).to.deep.equal(new Set([Object.prototype, Array.prototype]));
  });

  it('answers the key of a deleted row as an ID', async () => {
    const { answer, calls } = createTestGraphqlExecutor({ write: keys });
    const { data } = await answer(`mutation {
      one: delete_posts_item(id: 3) { kind: __typename gone: id }
      many: delete_posts_items(ids: ["1", "2"]) { ids }
    }`);
    expect(data).to.deep.equal({ one: { kind: 'delete_one', gone: '3' }, many: { ids: ['1', '2'] } });
    expect(calls).to.deep.equal([
      { verb: 'deleteMany', collection: 'posts', args: [['3']] },
      { verb: 'deleteMany', collection: 'posts', args: [['1', '2']] },
    ]);
  });

  it('reads nothing back when nothing was written', async () => {
    const { answer, calls } = createTestGraphqlExecutor({ write: keys });
    const { data } = await answer(`mutation {
      a: create_posts_items(data: []) { id }
      b: create_posts_items { id }
      c: update_posts_batch(data: null) { id }
      d: update_posts_items(ids: [], data: { title: "x" }, sort: "id") { id }
    }`);
    expect(data).to.deep.equal({ a: [], b: [], c: [], d: [] });
    expect(verbs(calls)).not.to.include('select');
  });

  it('answers true for rows that the caller may write but not read', async () => {
    const { answer } = createTestGraphqlExecutor({
      write: keys,
      select() {
        throw fail('FORBIDDEN');
      },
    });
    const { data, errors } = await answer(`mutation {
      one: update_posts_item(id: 1, data: {}) { id }
      many: update_posts_items(ids: [1], data: {}) { id }
      about: update_about(data: {}) { title }
    }`);
    expect(data).to.deep.equal({ one: null, many: [], about: null });
    expect(errors).to.equal(undefined);
  });

  describe('several mutations', () => {
    it('mutations run one after the other', async () => {
      const { answer, calls } = createTestGraphqlExecutor({ write: keys });
      await answer(`mutation {
        a: create_posts_item(data: { title: "x" }) { id }
        b: delete_posts_item(id: 1) { id }
        c: update_posts_item(id: 2, data: {}) { id }
      }`);
      expect(verbs(calls)).to.deep.equal(['createOne', 'select', 'deleteMany', 'updateOne', 'select']);
    });

    it('mutations continue after a failed nullable one', async () => {
      const { answer, calls } = createTestGraphqlExecutor({
        write(call) {
          if (call.verb === 'updateOne') throw fail('FORBIDDEN');
          return keys(call);
        },
      });
      const { data, errors } = await answer(`mutation {
        a: delete_posts_item(id: 1) { id }
        b: update_posts_item(id: 2, data: {}) { id }
        c: delete_posts_item(id: 3) { id }
      }`);
      expect(data).to.deep.equal({ a: { id: '1' }, b: null, c: { id: '3' } });
      expect(errors?.map(({ path }) => path)).to.deep.equal([['b']]);
      expect(verbs(calls)).to.deep.equal(['deleteMany', 'updateOne', 'deleteMany']);
    });

    it('mutations end with a failed non-null one', async () => {
      const { answer, calls } = createTestGraphqlExecutor({
        write(call) {
          if (call.verb === 'createMany') throw fail('RECORD_NOT_UNIQUE', 'taken', { field: 'title' });
          return keys(call);
        },
      });
      const { data, errors } = await answer(`mutation {
        a: delete_posts_item(id: 1) { id }
        b: create_posts_items(data: [{ title: "x" }]) { id }
        c: delete_posts_item(id: 3) { id }
      }`);
      expect(data).to.equal(null);
      expect(errors?.map(({ path, extensions }) => ({ path, extensions }))).to.deep.equal([
        { path: ['b'], extensions: { field: 'title', code: 'RECORD_NOT_UNIQUE' } },
      ]);
      expect(verbs(calls)).to.deep.equal(['deleteMany', 'createMany']);
    });
  });

  describe('conditions on the rows read back', () => {
    it('conditions filter the written rows and keep their order', async () => {
      const { answer, reads } = createTestGraphqlExecutor({ write: keys, select: () => '[]' });
      await answer('mutation { update_posts_items(ids: [4, 3], data: {}, filter: { title: { _eq: "y" } }) { id } }');
      expect(reads.map((read) => ({ keys: read.keys, parameters: read.selection.parameters }))).to.deep.equal([
        { keys: [4, 3], parameters: { filter: { title: { _eq: 'y' } } } },
      ]);
    });

    it('conditions select from all written rows unless a page is requested', async () => {
      const { answer, reads } = createTestGraphqlExecutor({ write: keys, select: () => '[]' });
      await answer(`mutation {
        a: create_posts_items(data: [{ title: "x" }, { title: "y" }], filter: { title: { _eq: "y" } }, sort: "-title") { id }
        b: update_posts_items(ids: [4], data: {}, limit: 1, search: "s") { id }
        c: update_posts_batch(data: [{ id: 1 }], page: 2) { id }
      }`);
      expect(
        reads.map(({ keys, text, selection }) => ({ keys, text, parameters: selection.parameters })),
      ).to.deep.equal([
        {
          keys: undefined,
          text: undefined,
          parameters: {
            filter: { _and: [{ post_id: { _in: [1, 2] } }, { title: { _eq: 'y' } }] },
            sort: ['-title'],
            limit: -1,
          },
        },
        {
          keys: undefined,
          text: undefined,
          parameters: { filter: { _and: [{ post_id: { _in: [4] } }, {}] }, limit: 1, search: 's' },
        },
        {
          keys: undefined,
          text: undefined,
          parameters: { filter: { _and: [{ post_id: { _in: [1] } }, {}] }, page: 2, limit: undefined },
        },
      ]);
    });

    it('conditions are refused before anything is written, at any depth', async () => {
      const refused: [string, object][] = [];
      const { answer, calls } = createTestGraphqlExecutor({
        write: keys,
        checkQuery(collection, query) {
          refused.push([collection, query]);
          if ('limit' in query) throw fail('INVALID_QUERY', 'limit: must not be above 5');
        },
      });
      const { data, errors } = await answer(`mutation {
        update_posts_item(id: 1, data: {}) { author { posts(sort: "id") { comments(limit: 9) { id } } } }
      }`);
      expect(data).to.deep.equal({ update_posts_item: null });
      expect(errors?.map(({ extensions }) => extensions.code)).to.deep.equal(['INVALID_QUERY']);
      expect(refused).to.deep.equal([
        ['posts', { sort: ['id'] }],
        ['comments', { limit: 9 }],
      ]);
      expect(verbs(calls)).to.deep.equal(['checkQuery', 'checkQuery']);
    });

    it('conditions are refused before anything is written when they are too many or too deep', async () => {
      const { answer, calls } = createTestGraphqlExecutor({ write: keys, nodes: 3 });
      await answer('mutation { update_posts_item(id: 1, data: {}) { a: title b: title c: title d: title } }');
      await answer('mutation { delete_posts_item(id: 1) { a: id b: id c: id d: id } }');
      expect(calls).to.deep.equal([]);
      const nested = (depth: number): string => (depth === 0 ? 'id' : `author { posts { ${nested(depth - 1)} } }`);
      const deep = createTestGraphqlExecutor({ write: keys });
      const { errors } = await deep.answer(`mutation { update_posts_item(id: 1, data: {}) { ${nested(6)} } }`);
      expect(errors?.[0]?.message).to.contain('is 11 levels deep, more than the 10 allowed');
      expect(deep.calls).to.deep.equal([]);
    });
  });

  it('caches the selection by a key without row keys and data', async () => {
    const { prepare, reads } = createTestGraphqlExecutor({ write: keys, hasCachedStatements: true });
    const run = prepare(`mutation ($id: ID!, $data: update_posts_input!, $n: Int) {
      update_posts_item(id: $id, data: $data) { comments(limit: $n) { id } }
    }`);
    await run({ id: '1', data: { title: 'a' }, n: 1 });
    await run({ id: '2', data: { title: 'b' }, n: 1 });
    await run({ id: '1', data: { title: 'a' }, n: 2 });
    const [one, two, other] = reads.map(({ text }) => text);
    expect(one).to.be.a('string').and.to.equal(two);
    expect(one).not.to.equal(other);
  });
});
