import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import { type GraphqlField, graphqlFields, graphqlFieldsService } from '../../../plugins/graphql-fields/contract.ts';
import { failureOf, type PluginSketch, withPlugins } from '../../support/plugin.ts';

const field = (definition: string, more: Partial<GraphqlField> = {}): GraphqlField => ({
  scope: 'system',
  operation: 'query',
  definition,
  resolve: () => null,
  ...more,
});

const contributor = (names: unknown, fields: readonly GraphqlField[], name = 'library'): PluginSketch => ({
  name,
  manifest: { contributes: { 'graphql.fields': { names } } },
  register(host) {
    for (const one of fields) host.contribute(graphqlFields, one);
  },
});

const product = ['graphql-fields'];

describe('graphql.fields', () => {
  it('takes the fields that a manifest names, and hands them over with their owners', async () => {
    let all: () => readonly { readonly owner: string; readonly value: GraphqlField }[] = () => [];
    const reader: PluginSketch = {
      name: 'reader',
      manifest: { uses: { graphqlFields: '^1.0.0' } },
      register: (host) => void (all = host.use({ graphqlFieldsService }).graphqlFieldsService.all),
    };
    const books = field('books_read(year: Int!): Int');
    await withPlugins(
      [reader, contributor(['books_read'], [books])],
      () => {
        expect(all()).to.deep.equal([{ owner: 'library', value: books }]);
        // Schemas are made of it, and kept as long as it is the same.
        expect(all()).to.equal(all());
      },
      { product },
    );
  });

  it('refuses a field that the manifest does not name', async () => {
    for (const definition of ['books_lent: Int', 'books_readers: Int', ' books_read: Int', '']) {
      const failure = await failureOf<BootFailure>(
        withPlugins([contributor(['books_read'], [field(definition)])], () => {}, { product }),
      );
      expect(failure.plugin, definition).to.equal('library');
      expect(failure.message, definition).to.match(/contribution to graphql\.fields refused: \w* ?is not declared/);
    }
  });

  it('takes names only that fields have', async () => {
    for (const names of [undefined, [], ['Books'], ['__schema'], ['books-read'], 'books']) {
      const failure = await failureOf<BootFailure>(withPlugins([contributor(names, [])], () => {}, { product }));
      expect(failure.plugin, JSON.stringify(names)).to.equal('library');
    }
  });

  it('gives a name that several bring to the first of them, and says so to the others', async () => {
    let all: () => readonly { readonly owner: string; readonly value: GraphqlField }[] = () => [];
    const reader: PluginSketch = {
      name: 'reader',
      manifest: { uses: { graphqlFields: '^1.0.0' } },
      register: (host) => void (all = host.use({ graphqlFieldsService }).graphqlFieldsService.all),
    };
    const first = contributor(['sign_in', 'books'], [field('sign_in: String'), field('books: Int')], 'first');
    const second = contributor(
      ['sign_in', 'books'],
      [field('sign_in(password: String): Int'), field('books: Int', { operation: 'mutation' })],
      'second',
    );
    await withPlugins(
      [reader, first, second],
      async ({ kernel, log }) => {
        const seen = all().map(({ owner, value }) => `${owner} ${value.operation} ${value.definition}`);
        expect(seen).to.deep.equal([
          'first query sign_in: String',
          'first query books: Int',
          'second mutation books: Int',
        ]);
        await kernel.migrate();
        await kernel.start();
        expect(log.filter(({ extension }) => extension === 'second').map(({ field: name }) => name)).to.deep.equal([
          'sign_in',
        ]);
      },
      { product, environment: { LOG_LEVEL: 'warn', LOG_STYLE: 'raw' } },
    );
  });

  it('says in the audit which fields a plugin answers', async () => {
    await withPlugins(
      [contributor(['books_read', 'authors'], [])],
      ({ kernel }) => {
        const line = kernel.audit().find(({ name }) => name === 'library');
        expect(line?.sentences).to.deep.equal(['answers authors, books_read by GraphQL']);
      },
      { product },
    );
  });
});
