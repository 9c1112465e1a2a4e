import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { ClientGone, fail } from '#kernel';
import type { RowStream } from '../../../../plugins/query/contract.ts';
import { expectOperationRefusal } from '../document-schema.ts';
import { createTestGraphqlExecutor } from './test-executor.ts';

const failing = async (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined).catch((error) => error);

describe('executing GraphQL queries', () => {
  it('runs one read for each root field and joins their JSON texts unchanged', async () => {
    const { run, reads } = createTestGraphqlExecutor({
      select: ({ collection, key }) => (key === undefined ? `[ {"of" :"${collection}"}]` : `{"key":${key} }`),
    });
    const text =
      '{ posts { id } two: posts { title } posts_by_id(id: "7") { id } about { title } posts_aggregated { countAll } }';
    const answer = await run(text);
    const list = '[ {"of" :"posts"}]';
    expect(answer).to.deep.equal({
      kind: 'text',
      failed: false,
      text: `{"data":{"posts":${list},"two":${list},"posts_by_id":{"key":7 },"about":[ {"of" :"about"}],"posts_aggregated":${list}}}`,
    });
    expect(reads.map(({ collection, key, streaming }) => ({ collection, key, streaming }))).to.deep.equal([
      { collection: 'posts', key: undefined, streaming: 'long' },
      { collection: 'posts', key: undefined, streaming: 'long' },
      { collection: 'posts', key: '7', streaming: undefined },
      { collection: 'about', key: undefined, streaming: undefined },
      { collection: 'posts', key: undefined, streaming: undefined },
    ]);
  });

  it('runs the root fields of a query at the same time', async () => {
    let open = 0;
    let most = 0;
    const { answer } = createTestGraphqlExecutor({
      async select() {
        most = Math.max(most, ++open);
        await turn();
        open--;
        return '[]';
      },
    });
    await answer('{ posts { id } two: posts { id } three: posts { id } }');
    expect(most).to.equal(3);
  });

  it('answers __typename and _empty without a read', async () => {
    const { answer, calls } = createTestGraphqlExecutor();
    const { data } = await answer('{ __typename _empty kind: __typename }');
    expect(data).to.deep.equal({ __typename: 'Query', _empty: null, kind: 'Query' });
    expect(calls).to.deep.equal([]);
    expect((await answer('mutation { __typename }')).data).to.deep.equal({ __typename: 'Mutation' });
  });

  it('answers an empty object when every root field is skipped', async () => {
    const { answer } = createTestGraphqlExecutor();
    expect((await answer('{ posts @skip(if: true) { id } }')).data).to.deep.equal({});
  });

  it('collects root fields from fragments', async () => {
    const { answer } = createTestGraphqlExecutor();
    const { data } = await answer(
      'query { ...a ... on Query { about { title } } } fragment a on Query { posts { id } ...b } fragment b on Query { posts { title } }',
    );
    expect(data).to.deep.equal({ posts: ['id', 'title'], about: ['title'] });
  });

  it('runs the requested one of several operations', async () => {
    const { run, reads } = createTestGraphqlExecutor();
    await run('query one { posts { id } } query two { about { title } }', {}, 'two');
    expect(reads.map(({ collection }) => collection)).to.deep.equal(['about']);
  });

  describe('errors', () => {
    it('errors have code, location and path, and a nullable field is null', async () => {
      const { answer, logged } = createTestGraphqlExecutor({
        select({ key }) {
          if (key !== undefined) throw fail('FORBIDDEN', 'posts has no readable row 9');
          return '[]';
        },
      });
      const { data, errors, failed } = await answer('{\n  posts { id }\n  one: posts_by_id(id: "9") { id } }');
      expect(data).to.deep.equal({ posts: [], one: null });
      expect(errors).to.deep.equal([
        {
          message: "You don't have permission to access this.",
          locations: [{ line: 3, column: 3 }],
          path: ['one'],
          extensions: { code: 'FORBIDDEN' },
        },
      ]);
      expect(failed).to.equal(true);
      expect(logged.map(({ level, status }) => ({ level, status }))).to.deep.equal([{ level: 'debug', status: 403 }]);
    });

    it('errors of a non-null list make the whole answer null', async () => {
      const { answer } = createTestGraphqlExecutor({
        select({ text }) {
          if (text?.includes('.bad ')) throw fail('INVALID_QUERY', 'limit: must not be above 5', { path: ['limit'] });
          return '[]';
        },
      });
      const { data, errors } = await answer('{ posts { id } bad: posts(limit: 9) { id } about { title } }');
      expect(data).to.equal(null);
      expect(errors?.map(({ path, extensions }) => ({ path, extensions }))).to.deep.equal([
        {
          path: ['bad'],
          extensions: { reason: 'limit: must not be above 5', path: ['limit'], code: 'INVALID_QUERY' },
        },
      ]);
    });

    it('errors of a single list have the same form', async () => {
      const { answer } = createTestGraphqlExecutor({
        select() {
          throw fail('FORBIDDEN');
        },
      });
      const { data, errors, failed } = await answer('{ posts { id } }');
      expect(data).to.equal(null);
      expect(errors?.[0]?.path).to.deep.equal(['posts']);
      expect(failed).to.equal(true);
    });

    it('errors are all in the answer', async () => {
      const { answer } = createTestGraphqlExecutor({
        select({ key }) {
          throw fail('FORBIDDEN', String(key));
        },
      });
      const { data, errors } = await answer('{ a: posts_by_id(id: 1) { id } b: posts_by_id(id: 2) { id } }');
      expect(data).to.deep.equal({ a: null, b: null });
      expect(errors?.map(({ path }) => path)).to.deep.equal([['a'], ['b']]);
    });

    it('errors that are unexpected are logged, and the client sees no details', async () => {
      const broken = new Error('the disk is on fire');
      const { answer, logged } = createTestGraphqlExecutor({
        select() {
          throw broken;
        },
      });
      const { errors } = await answer('{ about { title } }');
      expect(errors?.map(({ message, extensions }) => ({ message, extensions }))).to.deep.equal([
        { message: 'An unexpected error occurred.', extensions: { code: 'INTERNAL_SERVER_ERROR' } },
      ]);
      expect(logged).to.deep.equal([{ level: 'error', err: broken }]);
    });

    it('errors of arguments are INVALID_QUERY', async () => {
      const { answer, reads } = createTestGraphqlExecutor();
      const { data, errors } = await answer('query ($id: ID = "1") { posts_by_id(id: $id) { id } }', { id: null });
      expect(data).to.deep.equal({ posts_by_id: null });
      expect(errors?.map(({ extensions }) => extensions.code)).to.deep.equal(['INVALID_QUERY']);
      expect(reads).to.deep.equal([]);
    });

    it('errors end the operation when the client has disconnected', async () => {
      const gone = new ClientGone();
      const { run, logged } = createTestGraphqlExecutor({
        select() {
          throw gone;
        },
      });
      expect(await failing(run('{ about { title } }'))).to.equal(gone);
      expect(await failing(run('{ posts { title } }'))).to.equal(gone);
      expect(logged).to.deep.equal([]);
    });

    it('errors name a field that asks for too much', async () => {
      const { answer } = createTestGraphqlExecutor({ nodes: 3 });
      const { errors } = await answer('{ about { a: title b: title c: title d: title } }');
      expect(errors?.map(({ extensions }) => extensions.code)).to.deep.equal(['INVALID_QUERY']);
    });

    it('errors of too many root selections refuse the document', async () => {
      const { run } = createTestGraphqlExecutor({ nodes: 2 });
      await expectOperationRefusal(run('{ a: about { title } b: about { title } c: about { title } }'));
    });
  });

  describe('variables', () => {
    it('variables that are invalid, missing or null for a non-null type refuse the document', async () => {
      const { run, reads } = createTestGraphqlExecutor();
      const text = 'query ($id: ID!, $limit: Int) { posts_by_id(id: $id) { id } posts(limit: $limit) { id } }';
      for (const variables of [{}, { id: null }, { id: '1', limit: 'many' }, { id: { a: 1 } }]) {
        const error = await expectOperationRefusal(run(text, variables));
        expect(error.status).to.equal(400);
        expect(error.toClientView().code).to.equal('GRAPHQL_VALIDATION_EXCEPTION');
        expect(error.extensions.graphqlErrors).to.have.length(1);
        expect(error.message).to.match(/^Variable "\$(id|limit)"/);
      }
      expect(reads).to.deep.equal([]);
    });

    it('variables are reported with all their errors at once', async () => {
      const { run } = createTestGraphqlExecutor();
      const text = 'query ($a: Int!, $b: Int!) { posts(limit: $a, offset: $b) { id } }';
      const error = await expectOperationRefusal(run(text));
      expect(error.extensions.graphqlErrors).to.have.length(2);
    });

    it('variables that are not declared are ignored', async () => {
      const { answer } = createTestGraphqlExecutor();
      expect((await answer('{ posts { id } }', { other: 1, __proto__: 2 })).data).to.deep.equal({ posts: ['id'] });
    });

    it('variables have their default values, which null overrides', async () => {
      const { run, reads } = createTestGraphqlExecutor();
      const text = 'query ($limit: Int = 5) { posts(limit: $limit) { id } }';
      await run(text);
      await run(text, { limit: null });
      await run(text, { limit: 2 });
      expect(reads.map(({ selection }) => selection.parameters)).to.deep.equal([{ limit: 5 }, undefined, { limit: 2 }]);
    });

    it('variables decide in each run which root fields are included', async () => {
      const { prepare } = createTestGraphqlExecutor();
      const run = prepare('query ($a: Boolean!) { about { title } posts @include(if: $a) { id } }');
      const keys = async (a: boolean) => {
        const answer = await run({ a });
        return answer.kind === 'text' && Object.keys(JSON.parse(answer.text).data);
      };
      expect(await keys(true)).to.deep.equal(['about', 'posts']);
      expect(await keys(false)).to.deep.equal(['about']);
      expect(await keys(true)).to.deep.equal(['about', 'posts']);
    });

    it('variables that are null in @skip or @include refuse the document', async () => {
      const { run } = createTestGraphqlExecutor();
      const text = 'query ($a: Boolean = true) { about @include(if: $a) { title } }';
      await expectOperationRefusal(run(text, { a: null }));
    });
  });

  describe('the cache key of a statement', () => {
    const textsOf = async (text: string, ...all: readonly Record<string, unknown>[]) => {
      const { prepare, reads } = createTestGraphqlExecutor({ hasCachedStatements: true });
      const run = prepare(text);
      for (const variables of all) await run(variables);
      return reads.map((read) => read.text);
    };

    it('the cache key is equal for equal values, and only for these', async () => {
      const text = 'query ($a: String, $b: String) { posts(search: $a, filter: { title: { _eq: $b } }) { id } }';
      const values = [undefined, null, 'x', 'y', '', 'null', '{}', 'x"', 'x","b":"y'];
      const all = values.flatMap((a) =>
        values.map((b) => ({ ...(a === undefined ? {} : { a }), ...(b === undefined ? {} : { b }) })),
      );
      const texts = await textsOf(text, ...all, ...all);
      expect(new Set(texts).size).to.equal(all.length);
      expect(texts.slice(all.length)).to.deep.equal(texts.slice(0, all.length));
    });

    it('does not contain the key of a row', async () => {
      const text = 'query ($id: ID!, $n: Int) { posts_by_id(id: $id) { comments(limit: $n) { id } } }';
      const [one, two, other] = await textsOf(text, { id: '1', n: 1 }, { id: '2', n: 1 }, { id: '1', n: 2 });
      expect(one).to.equal(two);
      expect(one).not.to.equal(other);
    });

    it('the cache key contains the variable of the key when it is also used elsewhere', async () => {
      const comments = 'comments(filter: { post: { id: { _eq: $id } } }) { id }';
      const text = `query ($id: ID!) { posts_by_id(id: $id) { ${comments} } }`;
      const [one, two] = await textsOf(text, { id: '1' }, { id: '2' });
      expect(one).not.to.equal(two);
    });

    it('differs by root field, operation and document', async () => {
      const { prepare, reads } = createTestGraphqlExecutor({ hasCachedStatements: true });
      const text = 'query one { a: posts { id } b: posts { title } } query two { a: posts { title } c: posts { id } }';
      await prepare(text, 'one')();
      await prepare(text, 'two')();
      await prepare(`${text} # another document`, 'one')();
      expect(new Set(reads.map((read) => read.text)).size).to.equal(6);
    });

    it('does not depend on the variables of other root fields', async () => {
      const text = 'query ($a: Int, $b: Int) { a: posts(limit: $a) { id } b: posts(limit: $b) { id } }';
      const [a1, b1, a2, b2] = await textsOf(text, { a: 1, b: 1 }, { a: 1, b: 2 });
      expect(a1).to.equal(a2);
      expect(b1).not.to.equal(b2);
    });

    it('the cache key depends on variables in fragments, directives, functions and literals inside literals', async () => {
      for (const [type, inner] of [
        ['Boolean!', '...more'],
        ['Boolean!', 'title @skip(if: $v)'],
        ['Boolean!', '... @include(if: $v) { title }'],
        ['Boolean!', '...more @include(if: $v)'],
        ['Boolean!', 'comments(filter: { post: { _and: [{ id: { _null: $v } }] } }) { id }'],
        ['String!', 'meta_func { json(path: $v) }'],
      ] as const) {
        const more = inner.includes('...more')
          ? 'fragment more on posts { comments(filter: { text: { _eq: "" } }) @skip(if: $w) { id } }'
          : '';
        const definitions = `$v: ${type}${more ? ', $w: Boolean!' : ''}`;
        const used = inner === '...more' ? '...more title @skip(if: $v)' : inner;
        const text = `query (${definitions}) { posts { id ${used} } about { title } } ${more}`;
        const values = type === 'String!' ? ['a', 'b'] : [true, false];
        const [posts, about, others, same] = await textsOf(text, ...values.map((v) => ({ v, w: true })));
        expect(posts, inner).not.to.equal(others);
        expect(about, inner).to.equal(same);
        if (more) {
          const [one, , two] = await textsOf(text, { v: true, w: true }, { v: true, w: false });
          expect(one, `${inner}: inside the fragment`).not.to.equal(two);
        }
      }
    });

    it('the cache key depends on @skip and @include at the root, which decide what is merged', async () => {
      const text =
        'query ($v: Boolean!) { posts { id } ...more } fragment more on Query { posts @include(if: $v) { title } }';
      const { prepare, reads } = createTestGraphqlExecutor();
      const run = prepare(text);
      await run({ v: true });
      await run({ v: false });
      expect(reads.map(({ selection }) => 'items' in selection && selection.items.length)).to.deep.equal([2, 1]);
      expect(reads[0]?.text).not.to.equal(reads[1]?.text);
    });

    it('the cache key is all that is computed for a cached statement', async () => {
      const text = '{ posts { id comments(limit: 1) { id } } }';
      // The selection exceeds the limit, so translating it would fail.
      const { data } = await createTestGraphqlExecutor({
        nodes: 1,
        hasCachedStatements: true,
        select: () => '[]',
      }).answer(text);
      expect(data).to.deep.equal({ posts: [] });
      expect((await createTestGraphqlExecutor({ nodes: 1, select: () => '[]' }).answer(text)).failed).to.equal(true);
    });
  });

  describe('a long list', () => {
    const streamOf = (batches: readonly (readonly string[])[]) => {
      const state = { returned: 0 };
      const stream: RowStream = {
        meta: null,
        batches: {
          [Symbol.asyncIterator]() {
            const left = [...batches];
            return {
              next: async () => {
                const value = left.shift();
                return value ? { done: false, value } : { done: true, value: undefined };
              },
              return: async () => {
                state.returned++;
                return { done: true, value: undefined };
              },
            };
          },
        },
      };
      return { stream, state };
    };
    const partsOf = async (text: string, stream: RowStream) => {
      const answer = await createTestGraphqlExecutor({ select: () => stream }).run(text);
      if (answer.kind !== 'parts') throw new Error('the answer comes in one piece');
      return answer.parts;
    };

    it('a long list is streamed when it is the only root field', async () => {
      const { stream } = streamOf([['{"id":"1"}', '{"id":"2"}'], ['{"id":"3"}']]);
      const parts: string[] = [];
      for await (const part of await partsOf('{ all: posts(limit: -1) { id } }', stream)) parts.push(String(part));
      expect(parts).to.deep.equal(['{"data":{"all":[{"id":"1"},{"id":"2"}', ',{"id":"3"}', ']}}']);
    });

    it('a long list is answered as [] when it is empty', async () => {
      const parts: string[] = [];
      for await (const part of await partsOf('{ posts { id } }', streamOf([]).stream)) parts.push(String(part));
      expect(parts).to.deep.equal(['{"data":{"posts":[]}}']);
    });

    it('closes the cursor when the client stops reading, before or after the first part', async () => {
      for (const taken of [0, 1]) {
        const { stream, state } = streamOf([['1'], ['2']]);
        const iterator = (await partsOf('{ posts { id } }', stream))[Symbol.asyncIterator]();
        for (let at = 0; at < taken; at++) await iterator.next();
        await iterator.return?.();
        expect(state.returned).to.equal(1);
        expect(await iterator.next()).to.deep.equal({ done: true, value: undefined });
      }
    });

    it('a long list is read in parts beside other fields as well, which no other field is', async () => {
      const { run, reads } = createTestGraphqlExecutor();
      await run('{ posts { id } }');
      await run('{ posts { id } about { title } }');
      await run('{ about { title } }');
      await run('{ posts_aggregated { countAll } }');
      await run('{ posts_by_id(id: 1) { id } }');
      expect(reads.map(({ streaming }) => streaming)).to.deep.equal([
        'long',
        'long',
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
    });
  });
});
