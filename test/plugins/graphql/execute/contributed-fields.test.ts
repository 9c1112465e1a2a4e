import { expect } from 'chai';
import { getIntrospectionQuery } from 'graphql';
import { fail } from '#kernel';
import type { GraphqlResolverContext } from '../../../../plugins/graphql/contract.ts';
import { expectOperationRefusal } from '../document-schema.ts';
import { createTestGraphqlExecutor } from './test-executor.ts';

describe('executing contributed GraphQL fields', () => {
  it('a field answers the selected members of the resolved value', async () => {
    const seen: unknown[] = [];
    const state = { name: 'a', size: 1, parts: [{ name: 'b', size: 2 }, null], secret: 'x' };
    const { answer, calls, caller, ctx, signal } = createTestGraphqlExecutor({
      fields: {
        'Query.server_state': {
          resolve(args, call: GraphqlResolverContext) {
            seen.push(args, call);
            return state;
          },
        },
      },
    });
    const text = `query ($most: Int) {
      now: server_state { __typename size ...more } ... { now: server_state { parts(most: $most) { size } } }
    } fragment more on state { label: name parts(most: $most) { name } }`;
    const { data, errors } = await answer(text, { most: 2 });
    expect(errors).to.equal(undefined);
    expect(data).to.deep.equal({
      now: { __typename: 'state', size: 1, label: 'a', parts: [{ name: 'b', size: 2 }, null] },
    });
    expect(seen).to.deep.equal([{}, { caller, ctx, signal }]);
    expect(calls).to.deep.equal([]);
  });

  it('a resolver gets its arguments as ordinary objects', async () => {
    const seen: unknown[] = [];
    const resolve = (args: object) => {
      seen.push(args, Object.getPrototypeOf(args) === Object.prototype);
      return true;
    };
    const { answer } = createTestGraphqlExecutor({
      fields: { 'Mutation.sign_in': { resolve }, 'Mutation.sign_out': { resolve } },
    });
    const text = 'mutation ($name: String!, $other: String) { sign_in(name: $name) sign_out(name: $other) }';
    expect((await answer(text, { name: 'n' })).data).to.deep.equal({ sign_in: true, sign_out: true });
    expect(seen).to.deep.equal([{ name: 'n' }, true, {}, true]);
  });

  it('a failed field is null, and a failed non-null field makes the whole answer null', async () => {
    const { answer } = createTestGraphqlExecutor({
      select: () => '[]',
      fields: {
        'Query.server_state': {
          resolve() {
            throw fail('FORBIDDEN', 'for admins');
          },
        },
        'Query.server_name': {
          resolve() {
            throw fail('SERVICE_UNAVAILABLE', 'no name yet');
          },
        },
      },
    });
    const one = await answer('{ server_state { size } posts { id } }');
    expect(one.data).to.deep.equal({ server_state: null, posts: [] });
    expect(one.errors?.map(({ path, extensions }) => [path, extensions.code])).to.deep.equal([
      [['server_state'], 'FORBIDDEN'],
    ]);
    const two = await answer('{ server_name posts { id } }');
    expect(two.data).to.equal(null);
    expect(two.errors?.map(({ extensions }) => extensions.code)).to.deep.equal(['SERVICE_UNAVAILABLE']);
  });

  it('a value that does not match its type is logged, and the rest is answered', async () => {
    const { answer, logged } = createTestGraphqlExecutor({
      fields: {
        'Query.server_state': { resolve: () => ({ name: 'a', parts: [{ name: 'b', size: 'large' }, { size: 2 }] }) },
      },
    });
    const { data, errors } = await answer('{ server_state { name parts { size } } }');
    expect(data).to.deep.equal({ server_state: { name: 'a', parts: [null, { size: 2 }] } });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).to.deep.equal([
      [['server_state', 'parts', 0, 'size'], 'INTERNAL_SERVER_ERROR'],
    ]);
    expect(logged.map(({ level }) => level)).to.deep.equal(['error']);
    const missing = await answer('{ server_state { size } }');
    expect(missing.data).to.deep.equal({ server_state: null });
  });

  it('a resolver may answer null', async () => {
    const { answer } = createTestGraphqlExecutor({
      fields: { 'Query.server_state': { resolve: async () => undefined } },
    });
    const { data, errors } = await answer('{ server_state { size } }');
    expect(data).to.deep.equal({ server_state: null });
    expect(errors).to.equal(undefined);
  });

  describe('fields with "row"', () => {
    const me = (resolve: () => unknown) => ({ 'Query.users_me': { row: 'people', resolve } });

    it('fields with "row" answer the row of the resolved key', async () => {
      const { answer, reads } = createTestGraphqlExecutor({
        select: ({ key }) => `{"id":"${key}"}`,
        fields: me(async () => 'u1'),
      });
      expect((await answer('{ users_me { id posts(limit: 1) { id } } }')).data).to.deep.equal({
        users_me: { id: 'u1' },
      });
      expect(reads.map(({ collection, key, selection }) => [collection, key, selection])).to.deep.equal([
        [
          'people',
          'u1',
          {
            items: [
              { kind: 'column', key: 'id', field: 'id', as: 'text' },
              {
                kind: 'related',
                key: 'posts',
                field: 'posts',
                selection: {
                  parameters: { limit: 1 },
                  items: [{ kind: 'column', key: 'id', field: 'id', as: 'text' }],
                },
              },
            ],
          },
        ],
      ]);
      expect(reads[0]?.text).to.be.a('string');
    });

    it('fields with "row" answer null without a key, and an error for a row that the caller may not read', async () => {
      const none = createTestGraphqlExecutor({ fields: me(() => null) });
      expect((await none.answer('{ users_me { id } }')).data).to.deep.equal({ users_me: null });
      expect(none.calls).to.deep.equal([]);
      const hidden = createTestGraphqlExecutor({
        fields: me(() => 'u1'),
        select() {
          throw fail('FORBIDDEN');
        },
      });
      const { data, errors } = await hidden.answer('{ users_me { id } }');
      expect(data).to.deep.equal({ users_me: null });
      expect(errors?.map(({ extensions }) => extensions.code)).to.deep.equal(['FORBIDDEN']);
    });

    it('fields with "row" precheck the selection of a mutation, and answer null when the caller may not read the row afterwards', async () => {
      const changed: unknown[] = [];
      const { answer } = createTestGraphqlExecutor({
        fields: {
          'Mutation.rename_me': {
            row: 'people',
            resolve({ name }) {
              changed.push(name);
              return 'u1';
            },
          },
        },
        checkQuery() {
          throw fail('INVALID_QUERY', 'limit');
        },
        select() {
          throw fail('FORBIDDEN');
        },
      });
      const { errors } = await answer('mutation { rename_me(name: "x") { posts(limit: 9) { id } } }');
      expect(errors?.map(({ extensions }) => extensions.code)).to.deep.equal(['INVALID_QUERY']);
      expect(changed).to.deep.equal([]);
      const { data, errors: none } = await answer('mutation { rename_me(name: "x") { id } }');
      expect(data).to.deep.equal({ rename_me: null });
      expect(none).to.equal(undefined);
      expect(changed).to.deep.equal(['x']);
    });
  });

  describe('fields with "once"', () => {
    const setup = () => {
      const run: string[] = [];
      const field = (name: string) => ({ once: true as const, resolve: () => run.push(name) > 0 });
      return {
        run,
        ground: createTestGraphqlExecutor({
          fields: { 'Mutation.sign_in': field('in'), 'Mutation.sign_out': field('out') },
        }),
      };
    };

    it('fields with "once" refuse a request with two of them before anything runs', async () => {
      for (const text of [
        'mutation { a: sign_in(name: "a") b: sign_in(name: "b") }',
        'mutation { sign_in(name: "a") ... on Mutation { sign_out } }',
        'mutation { ...f sign_out } fragment f on Mutation { sign_in(name: "a") }',
      ]) {
        const { run, ground: at } = setup();
        for (let time = 0; time < 2; time++) {
          expect((await expectOperationRefusal(at.run(text))).status, text).to.equal(400);
        }
        expect(run).to.deep.equal([]);
      }
    });

    it('fields with "once" run once beside other fields', async () => {
      const { run, ground: at } = setup();
      const text = 'mutation ($both: Boolean!) { sign_in(name: "a") sign_out @include(if: $both) __typename }';
      expect((await at.answer(text, { both: false })).data).to.deep.equal({ sign_in: true, __typename: 'Mutation' });
      expect(run).to.deep.equal(['in']);
      await expectOperationRefusal(at.run(text, { both: true }));
    });
  });

  describe('introspection fields', () => {
    it('introspection fields answer the schema', async () => {
      const { answer, calls } = createTestGraphqlExecutor();
      const { data } = await answer(getIntrospectionQuery());
      const { types } = (data as { __schema: { types: { name: string }[] } }).__schema;
      expect(types.map(({ name }) => name)).to.include.members(['posts', 'posts_filter', 'Query', 'Mutation']);
      expect(calls).to.deep.equal([]);
    });

    it('introspection fields run beside reads, with variables and fragments', async () => {
      const { answer } = createTestGraphqlExecutor({ select: () => '[1]' });
      const text = `query ($name: String!) { posts { id } type: __type(name: $name) { ...named } }
        fragment named on __Type { name kind }`;
      expect((await answer(text, { name: 'posts' })).data).to.deep.equal({
        posts: [1],
        type: { name: 'posts', kind: 'OBJECT' },
      });
      expect((await answer(text, { name: 'none' })).data).to.deep.equal({ posts: [1], type: null });
    });
  });
});
