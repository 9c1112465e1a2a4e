import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import { renderAuthorities } from '../../../../plugins/broker/library.ts';
import { type ContributedGraphqlField, graphqlFields } from '../../../../plugins/graphql/contract.ts';
import { createRefusedFieldReporter } from '../../../../plugins/graphql/fields/refused-field-reporter.ts';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../../../support/test-plugins.ts';

const field = (definition: string, more: Partial<ContributedGraphqlField> = {}): ContributedGraphqlField => ({
  scope: 'system',
  operation: 'query',
  definition,
  resolve: () => null,
  ...more,
});

const contributor = (names: unknown, fields: readonly ContributedGraphqlField[], name = 'library'): TestPlugin => ({
  name,
  manifest: { contributes: { 'graphql.fields': { names } } },
  register(host) {
    for (const one of fields) host.contribute(graphqlFields, one);
  },
});

interface Owned {
  readonly owner: string;
  readonly value: ContributedGraphqlField;
}

/** Defines the facet in place of the plugin `graphql`, which needs a database. */
const reader = (receive: (all: () => readonly Owned[]) => void = () => {}): TestPlugin => ({
  name: 'reader',
  manifest: { facets: ['graphql.fields'], capabilities: { log: true } },
  register(host) {
    host.define(graphqlFields);
    receive(() => host.read(graphqlFields).kept);
    const report = createRefusedFieldReporter(host.log);
    const update = () => report(host.read(graphqlFields).refused);
    host.onStart(update);
    host.watch(graphqlFields, update);
  },
});

describe('the facet graphql.fields', () => {
  it('accepts the fields that a manifest declares, and lists them with their owners', async () => {
    let all: () => readonly Owned[] = () => [];
    const books = field('books_read(year: Int!): Int');
    await withBootedTestPlugins([reader((one) => void (all = one)), contributor(['books_read'], [books])], () => {
      expect(all().map(({ owner, value }) => [owner, value])).to.deep.equal([['library', books]]);
      // The list stays the same object, since GraphQL schemas are cached by its identity.
      expect(all()).to.equal(all());
    });
  });

  it('refuses a field that the manifest does not declare', async () => {
    for (const definition of ['books_lent: Int', 'books_readers: Int', ' books_read: Int', '']) {
      const failure = await captureError<BootFailure>(
        withBootedTestPlugins([contributor(['books_read'], [field(definition)]), reader()], () => {}),
      );
      expect(failure.message, definition).to.match(
        /library: contribution to graphql\.fields refused: \w* ?is not declared/,
      );
    }
  });

  it('refuses a manifest with invalid field names', async () => {
    for (const names of [undefined, [], ['Books'], ['__schema'], ['books-read'], 'books']) {
      const failure = await captureError<BootFailure>(
        withBootedTestPlugins([contributor(names, []), reader()], () => {}),
      );
      expect(failure.plugin, JSON.stringify(names)).to.equal('library');
    }
  });

  it('keeps the first of several fields with one name, and logs the others', async () => {
    let all: () => readonly Owned[] = () => [];
    const first = contributor(['sign_in', 'books'], [field('sign_in: String'), field('books: Int')], 'first');
    const second = contributor(
      ['sign_in', 'books'],
      [field('sign_in(password: String): Int'), field('books: Int', { operation: 'mutation' })],
      'second',
    );
    await withBootedTestPlugins(
      [reader((one) => void (all = one)), first, second],
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
      { environment: { LOG_LEVEL: 'warn', LOG_STYLE: 'raw' } },
    );
  });

  it('lists in the audit which fields a plugin answers', async () => {
    await withBootedTestPlugins([reader(), contributor(['books_read', 'authors'], [])], ({ kernel }) => {
      const line = kernel.audit().find(({ name }) => name === 'library');
      expect(renderAuthorities(line?.authorities ?? [])).to.deep.equal(['answers authors, books_read (by GraphQL)']);
    });
  });

  it('drops a field when its contribution is removed, and warns once of a duplicate name', async () => {
    let all: () => readonly Owned[] = () => [];
    let add =
      (_field: ContributedGraphqlField): (() => void) =>
      () => {};
    const late: TestPlugin = {
      name: 'late',
      manifest: { contributes: { 'graphql.fields': { names: ['books', 'more'] } } },
      register: (host) => void (add = (one) => host.contribute(graphqlFields, one)),
    };
    await withBootedTestPlugins(
      [reader((one) => void (all = one)), contributor(['books'], [field('books: Int')]), late],
      async ({ kernel, log }) => {
        await kernel.migrate();
        await kernel.start();
        const before = all();
        const remove = [add(field('more: Int')), add(field('books: Int'))];
        expect(all().map(({ value }) => value.definition)).to.deep.equal(['books: Int', 'more: Int']);
        expect(all()).not.to.equal(before);
        await Promise.resolve();
        expect(log.filter(({ extension }) => extension === 'late')).to.have.length(1);
        for (const one of remove) one();
        await Promise.resolve();
        expect(all()).to.deep.equal(before);
        expect(log.filter(({ extension }) => extension === 'late')).to.have.length(1);
      },
      { environment: { LOG_LEVEL: 'warn', LOG_STYLE: 'raw' } },
    );
  });
});
