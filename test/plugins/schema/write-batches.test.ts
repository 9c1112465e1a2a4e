import { expect } from 'chai';
import { type SchemaFixture, withSchemaFixture } from './schema-fixture.ts';

const TABLES = `create table a (id integer primary key, b text, c integer); insert into a values (1, '7', 1), (2, 'x', 2), (3, null, 3)`;
const newField = { field: 'd', type: 'integer', schema: { data_type: 'smallint' } };
const asNumber = { type: 'integer', schema: { data_type: 'integer', is_nullable: true }, meta: null };

/** Runs `work` with the names of all events of fields. */
async function withEvents(work: (probe: SchemaFixture, events: readonly string[]) => Promise<void>): Promise<void> {
  const events: string[] = [];
  await withSchemaFixture(TABLES, (probe) => work(probe, events), {
    register({ events: bus }) {
      for (const verb of ['create', 'update', 'delete']) {
        bus.onFilter(`fields.${verb}`, () => void events.push(`filter ${verb}`));
        bus.onAction(`fields.${verb}`, () => void events.push(`action ${verb}`));
      }
    },
  });
}

const columnsOf = async ({ db }: SchemaFixture): Promise<readonly string[]> => {
  const { rows } = await db.query<{ column: string }>(
    `select attname || ' ' || format_type(atttypid, atttypmod) as column from pg_attribute
    where attrelid = 'a'::regclass and attnum > 0 and not attisdropped order by attnum`,
  );
  return rows.map(({ column }) => column);
};

describe('schemaWrites: batches', function () {
  this.timeout(60_000);

  it('a batch commits all changes, answers its statements, and emits events', () =>
    withEvents(async (probe, events) => {
      const { value, statements } = await probe.writes.batch(probe.admin, async (batch) => {
        await batch.createField('a', newField);
        await batch.deleteField('a', 'c');
        return (await batch.snapshot()).collections.get('a')?.fields.has('d');
      });
      expect(value).to.equal(true);
      expect(statements).to.deep.equal([
        'alter table "public"."a" add column "d" smallint',
        'alter table "public"."a" drop column "c"',
      ]);
      expect(await columnsOf(probe)).to.deep.equal(['id integer', 'b text', 'd smallint']);
      expect((await probe.collection('a')).fields.has('c')).to.equal(false);
      expect(events).to.deep.equal(['filter create', 'filter delete', 'action create', 'action delete']);
    }));

  it('a failure in a batch undoes the changes before it', () =>
    withEvents(async (probe, events) => {
      const work = probe.writes.batch(probe.admin, async (batch) => {
        await batch.createField('a', newField);
        await batch.updateField('a', 'b', asNumber);
      });
      expect(await work.then(String, ({ code }) => code)).to.equal('INVALID_PAYLOAD');
      expect(await columnsOf(probe)).to.deep.equal(['id integer', 'b text', 'c integer']);
      expect(events.filter((event) => event.startsWith('action'))).to.deep.equal([]);
    }));

  it('a trial counts the values that do not convert, emits no event, and changes nothing', () =>
    withEvents(async (probe, events) => {
      const { version } = await probe.schema.snapshot();
      const work = async (batch: Parameters<Parameters<SchemaFixture['writes']['batch']>[1]>[0]) => {
        await batch.createField('a', newField);
        await batch.updateField('a', 'b', asNumber);
      };
      const { statements, conversions } = await probe.writes.batch(probe.admin, work, { trial: true });
      expect(conversions).to.deep.equal([
        { collection: 'a', field: 'b', from: 'text', to: 'integer', rows: 2, failing: 1 },
      ]);
      expect(statements.at(-1)).to.equal('alter table "public"."a" alter column "b" type integer using "b"::integer');
      expect(await columnsOf(probe)).to.deep.equal(['id integer', 'b text', 'c integer']);
      expect(events).to.deep.equal([]);
      expect((await probe.schema.refresh()).version).to.equal(version);
    }));

  it('a renamed field keeps its values, and the registry names it anew', () =>
    withSchemaFixture(TABLES, async (probe) => {
      const { writes, admin, db } = probe;
      await writes.createField(admin, 'a', { field: 'all', type: 'alias', meta: { special: ['o2m'] } });
      await writes.createRelation(admin, {
        collection: 'a',
        field: 'c',
        related_collection: 'a',
        meta: { one_field: 'all', sort_field: 'c' },
      });
      await writes.updateField(admin, 'a', 'b', { meta: { group: 'c' } });
      const meta = { sort_field: 'c', archive_field: 'c', item_duplication_fields: ['c', 'c.b', 'b'] };
      await writes.updateCollection(admin, 'a', { meta });
      await writes.batch(admin, async (batch) => {
        await batch.renameField('a', 'c', 'parent');
        await batch.renameField('a', 'all', 'children');
      });
      const { rows } = await db.query<{ parent: number }>('select parent from a order by id');
      expect(rows.map(({ parent }) => parent)).to.deep.equal([1, 2, 3]);
      const { meta: after, fields } = await probe.collection('a');
      expect(after).to.deep.include({
        sort_field: 'parent',
        archive_field: 'parent',
        item_duplication_fields: ['parent', 'parent.b', 'b'],
      });
      expect(fields.get('b')?.meta?.group).to.equal('parent');
      expect(fields.get('parent')?.relation?.kind).to.equal('one');
      expect(fields.get('children')?.relation?.relation.meta).to.deep.include({
        many_field: 'parent',
        one_field: 'children',
        sort_field: 'parent',
      });
      for (const [from, to] of [
        ['parent', 'b'],
        ['parent', 'a.b'],
        ['missing', 'x'],
      ] as const) {
        const renamed = writes.batch(admin, (batch) => batch.renameField('a', from, to));
        expect(await renamed.then(String, ({ code }) => code), from).to.be.oneOf([
          'INVALID_PAYLOAD',
          'ROUTE_NOT_FOUND',
        ]);
      }
    }));
});
