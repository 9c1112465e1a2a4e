import { expect } from 'chai';
import type { Caller } from '#kernel';
import type { PlaceholderValues, ReadResultText } from '../../plugins/query/contract.ts';
import { OperandPlaceholder } from '../../plugins/query/library.ts';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import { type ItemsSelectFixture, withItemsSelectFixture } from './items-select-fixture.ts';

const SQL = `
  create table post (id serial primary key, title text, size int);
  insert into post (title, size) select 'post ' || n, n % 3 from generate_series(1, 9) n;
`;

/** Selects the posts with these ids, this size and this text in the title; all three are placeholders. */
async function found(
  { items, admin }: ItemsSelectFixture,
  values: PlaceholderValues,
  caller: Caller = admin,
): Promise<string> {
  const answer = await items.select(caller, 'post', {
    selection(open) {
      const value = (name: string) => (open ? new OperandPlaceholder(name, values[name]) : values[name]);
      const filter = { size: { _eq: value('size') }, title: { _contains: value('text') }, id: { _in: value('ids') } };
      return { parameters: { filter }, items: [{ kind: 'column', key: 'id', field: 'id' }] };
    },
    text: 'posts of a size',
    placeholders: values,
  });
  return (answer as ReadResultText).data as string;
}

const ids = [1, 2, 3, 4, 5, 6];

describe('placeholder values of a selection', () => {
  it('each run of one statement uses its own values', () =>
    withItemsSelectFixture(SQL, async (harness) => {
      const answers: string[] = [];
      const sent = await recordStatementsDuring(async () => {
        answers.push(await found(harness, { size: 1, text: 'post', ids }));
        answers.push(await found(harness, { size: '2', text: 'post', ids }));
        answers.push(await found(harness, { size: 1, text: '4', ids }));
        answers.push(await found(harness, { size: 1, text: '%', ids }));
        answers.push(await found(harness, { size: 1, text: 'post', ids: ['4', 7, 8] }));
      });
      expect(answers).to.deep.equal([
        '[{"id":1},{"id":4}]',
        '[{"id":2},{"id":5}]',
        '[{"id":4}]',
        '[]',
        '[{"id":4},{"id":7}]',
      ]);
      expect(new Set(sent).size).to.equal(1);
    }));

  it('each run validates its values like those of a query, in the order of the filter', () =>
    withItemsSelectFixture(SQL, async (harness) => {
      const wrong = (values: PlaceholderValues) =>
        found(harness, values).then(
          () => undefined,
          (error) => `${error.code} ${error.detail}`,
        );
      const before = await wrong({ size: 'large', text: 'post', ids: ['x'] });
      expect(before).to.equal('INVALID_QUERY filter.size._eq: "large" is not a number');
      expect(await found(harness, { size: 1, text: 'post', ids })).to.equal('[{"id":1},{"id":4}]');
      const sent = await recordStatementsDuring(async () => {
        expect(await wrong({ size: 'large', text: 'post', ids: ['x'] })).to.equal(before);
        expect(await wrong({ size: 1, text: 'post', ids: [1, 'x'] })).to.equal(
          'INVALID_QUERY filter.id._in.1: "x" is not a number',
        );
      });
      expect(sent).to.deep.equal([]);
    }));

  it('query listeners receive the values and can change them', async () => {
    const readListeners: unknown[] = [];
    await withItemsSelectFixture(
      SQL,
      async (harness) => {
        expect(await found(harness, { size: 1, text: 'post', ids })).to.equal('[{"id":1},{"id":4}]');
        expect(await found(harness, { size: 2, text: 'post', ids })).to.equal('[{"id":2},{"id":5}]');
      },
      (host) =>
        host.events.onFilter('post.items.read', (rows, { query }) => {
          readListeners.push((query as { filter: { size: unknown } }).filter.size);
          return rows;
        }),
    );
    expect(readListeners).to.deep.equal([{ _eq: 1 }, { _eq: 2 }]);
    await withItemsSelectFixture(
      SQL,
      async (harness) => {
        expect(await found(harness, { size: 1, text: 'post', ids })).to.equal('[{"id":3},{"id":6}]');
      },
      (host) =>
        host.events.onFilter('post.items.query', (asks) => {
          const query = asks as { filter: { size: unknown } };
          expect(query.filter.size).to.deep.equal({ _eq: 1 });
          return { ...query, filter: { ...query.filter, size: { _eq: 0 } } };
        }),
    );
  });

  it('a read by keys needs no placeholder: its statement is compiled once and run for other keys', () =>
    withItemsSelectFixture(SQL, async (harness) => {
      let created = 0;
      const byKeys = async (keys: readonly unknown[], caller = harness.admin) => {
        const selection = () => {
          created++;
          return { items: [{ kind: 'column', key: 'id', field: 'id' }] } as const;
        };
        const answer = await harness.items.select(caller, 'post', { selection, text: 'posts by keys', keys });
        return (answer as ReadResultText).data as string;
      };
      const sent = await recordStatementsDuring(async () => {
        expect(await byKeys([3, '1'])).to.equal('[{"id":3},{"id":1}]');
        expect(await byKeys(['2', 99, 9])).to.equal('[{"id":2},{"id":9}]');
        expect(await byKeys([])).to.equal('[]');
      });
      expect(created).to.equal(1);
      expect(new Set(sent).size).to.equal(1);
      expect(
        await byKeys(['x']).then(
          () => undefined,
          ({ code, detail }) => `${code} ${detail}`,
        ),
      ).to.equal('FORBIDDEN "x" is not a key of post');
      const { items, admin } = harness;
      const rows = async (keys: readonly unknown[]) =>
        (await items.readKeys(admin, 'post', keys, { fields: 'id' })).data;
      expect(await rows([2, 1])).to.equal('[{"id":2},{"id":1}]');
      expect(await rows(['5'])).to.equal('[{"id":5}]');
      // The same field list is used for a list and for one row, which must not share a statement.
      expect((await items.readMany(admin, 'post', { fields: 'id' })).data).to.match(
        /^(\[|,\{"id":\d\}|\{"id":1\}|\])+$/,
      );
      expect((await items.readOne(admin, 'post', 4, { fields: 'id' })).data).to.equal('{"id":4}');
    }));
});
