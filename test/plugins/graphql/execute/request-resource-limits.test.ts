import { expect } from 'chai';
import { ClientGone, errorEnvelope } from '#kernel';
import { expectOperationRefusal } from '../document-schema.ts';
import { createTestGraphqlExecutor } from './test-executor.ts';

const fifty = (field: (at: number) => string) => Array.from({ length: 50 }, (_, at) => field(at)).join(' ');

describe('resources of one GraphQL request', () => {
  it('root fields run a few statements at a time, however many there are', async () => {
    let running = 0;
    let most = 0;
    const { answer } = createTestGraphqlExecutor({
      async select() {
        most = Math.max(most, ++running);
        await new Promise((done) => setTimeout(done, 1));
        running--;
        return '[]';
      },
    });
    const { data } = await answer(`{ ${fifty((at) => `p${at}: posts { title }`)} }`);
    expect(Object.keys(data as object)).to.deep.equal(Array.from({ length: 50 }, (_, at) => `p${at}`));
    expect(most).to.equal(5);
  });

  it('no further root field starts once the client has disconnected', async () => {
    const { run, reads } = createTestGraphqlExecutor({
      async select() {
        throw new ClientGone();
      },
    });
    const error = await run(`{ ${fifty((at) => `p${at}: posts { title }`)} }`).catch((reason: Error) => reason.name);
    await new Promise((done) => setImmediate(done));
    expect([error, reads.length]).to.deep.equal(['ClientGone', 5]);
  });

  it('long lists beside each other share a memory limit; a single one is streamed', async () => {
    const row = JSON.stringify('x'.repeat(1_000_000));
    let ended = 0;
    let batchCount = 0;
    const batches = (): AsyncIterableIterator<readonly string[]> => {
      let count = 0;
      const rows: AsyncIterableIterator<readonly string[]> = {
        [Symbol.asyncIterator]: () => rows,
        async next() {
          if (++count > 100) return { done: true, value: undefined };
          batchCount++;
          return { done: false, value: [row, '1'] };
        },
        async return() {
          ended++;
          return { done: true, value: undefined };
        },
      };
      return rows;
    };
    const { answer, reads } = createTestGraphqlExecutor({ select: () => ({ batches: batches(), meta: null }) });
    const { data, errors } = await answer('{ a: posts(limit: -1) { title } b: posts(limit: -1) { title } }');
    expect(reads.map(({ streaming }) => streaming)).to.deep.equal(['long', 'long']);
    expect([data, errors?.map(({ path, extensions }) => [path, extensions.code])]).to.deep.equal([
      null,
      [
        [['a'], 'INVALID_QUERY'],
        [['b'], 'INVALID_QUERY'],
      ],
    ]);
    expect(errors?.[0]?.message).to.include('ask for long lists by themselves');
    expect([ended, batchCount]).to.deep.equal([2, 32]);

    const texts = createTestGraphqlExecutor({ select: async () => JSON.stringify('x'.repeat(6_000_000)) });
    const one = await texts.answer(
      '{ a: posts_by_id(id: 1) { title } b: posts_by_id(id: 2) { title } c: about { title } }',
    );
    expect([Object.values(one.data ?? {}).map((text) => (text === null ? null : 1)), one.errors?.length]).to.deep.equal(
      [[1, 1, null], 1],
    );
  });

  it('a single root field has no limit beyond that of REST', async () => {
    const { answer } = createTestGraphqlExecutor({ select: async () => JSON.stringify('x'.repeat(17_000_000)) });
    const { data, errors } = await answer('{ posts_by_id(id: 1) { title } }');
    expect([String(data?.posts_by_id).length, errors]).to.deep.equal([17_000_000, undefined]);
  });

  it('unlimited lists beside each other are answered if their rows fit into the shared memory limit', async () => {
    const { answer } = createTestGraphqlExecutor({
      select: ({ selection }) => ({
        meta: null,
        batches: (async function* () {
          if ('parameters' in selection) return;
          yield ['{"a":1}', '{"a":2}'];
          yield ['{"a":3}'];
        })(),
      }),
    });
    const { data } = await answer('{ a: posts { title } b: posts(limit: -1) { title } }');
    expect(data).to.deep.equal({ a: [{ a: 1 }, { a: 2 }, { a: 3 }], b: [] });
  });

  it('a large variable may not be repeated many times, directly or by fragments', async () => {
    const large = { _or: Array.from({ length: 1000 }, (_, at) => ({ title: { _eq: `${at}` } })) };
    const nested = (levels: number): string =>
      levels === 0 ? 'posts(filter: $f) { title }' : `...F${levels - 1} ...F${levels - 1}`;
    const bombs: Record<string, string> = {
      'root fields': `query ($f: posts_filter) { ${fifty((at) => `p${at}: posts(filter: $f) { title }`)} }`,
      'one condition': `query ($f: posts_filter) { posts(filter: { _and: [${'$f '.repeat(50)}] }) { title } }`,
      'fragments that double': `query ($f: posts_filter) { ...F6 } ${Array.from(
        { length: 7 },
        (_, at) => `fragment F${at} on Query { ${nested(at)} }`,
      ).join(' ')}`,
    };
    for (const [what, query] of Object.entries(bombs)) {
      const { run, reads } = createTestGraphqlExecutor();
      const { message, isSchemaIndependent } = await expectOperationRefusal(run(query, { f: large }));
      expect([message, isSchemaIndependent, reads.length], what).to.deep.equal([
        'The document uses large variables too often: repeated, they make more than 250000 characters.',
        true,
        0,
      ]);
      const small = createTestGraphqlExecutor();
      await small.run(query, { f: { title: { _eq: 'x' } } });
      expect(small.reads.length, what).to.be.greaterThan(0);
    }
    const once = createTestGraphqlExecutor();
    await once.run('query ($f: posts_filter) { posts(filter: $f) { title } }', {
      f: { _and: Array.from({ length: 10 }, () => large) },
    });
    expect(once.reads.length).to.equal(1);
  });

  it('the errors of large variables are not listed repeatedly', async () => {
    const { run } = createTestGraphqlExecutor();
    const query = 'query ($f: posts_filter) { posts(filter: $f) { title } }';
    const wrong = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, 1]));
    const found = async (count: number) => {
      const { body } = errorEnvelope(await expectOperationRefusal(run(query, { f: wrong(count) })), { admin: false });
      return body.errors.flatMap(({ extensions }) => extensions.graphqlErrors as readonly unknown[]).length;
    };
    expect(await found(4)).to.equal(4);
    expect(await found(50_000)).to.equal(2);
  });
});
