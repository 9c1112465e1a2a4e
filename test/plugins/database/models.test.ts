import { expect } from 'chai';
import { Model } from 'objection';
import type { Db } from '../../../plugins/database/contract.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createPluginWithDatabaseGrant, startTestKernel, type TestKernel } from './test-kernel.ts';

class Line extends Model {
  static override tableName = 'mine_lines';
  declare note: number;
  declare text: string;
}

class Note extends Model {
  static override tableName = 'mine';
  static override relationMappings = {
    lines: { relation: Model.HasManyRelation, modelClass: Line, join: { from: 'mine.id', to: 'mine_lines.note' } },
  };
  declare id: number;
  declare lines: Line[];
}

class Secret extends Model {
  static override tableName = 'secrets';
}

describe('models on db.modelKnex', () => {
  let testKernel: TestKernel;
  let db: Db;
  before(async () => {
    testKernel = await startTestKernel([
      createPluginWithDatabaseGrant({ own: ['mine', 'mine_lines'] }, (host) => void (db = host.db)),
    ]);
    await testKernel.database.query(
      'create table mine (id serial primary key); create table mine_lines (id serial primary key, note integer, text text); create table secrets (id serial)',
    );
  });
  after(() => testKernel?.stop());
  beforeEach(() => testKernel.database.query('truncate mine, mine_lines'));

  it('models write and read a graph of granted tables', async () => {
    const notes = Note.bindKnex(db.modelKnex());
    const { id } = await notes.query().insertGraph({ lines: [{ text: 'a' }, { text: 'b' }] } as never);
    const found = await notes.query().findById(id).withGraphFetched('lines');
    expect(found?.lines.map(({ text }) => text)).to.deep.equal(['a', 'b']);
    expect(await notes.query().resultSize()).to.equal(1);
  });

  it('a model of a table outside of the grant is denied, also as a part of another query', async () => {
    const knex = db.modelKnex();
    const secrets = Secret.bindKnex(knex);
    const notes = Note.bindKnex(knex);
    for (const query of [
      () => secrets.query(),
      () => secrets.query().insert({}),
      () => notes.query().whereIn('id', secrets.query().select('id')),
      () => notes.query().whereRaw('id in (select id from secrets)'),
    ])
      expect((await captureError<{ code: string }>(async () => query())).code).to.equal('CAPABILITY_DENIED');
  });

  it('models write in the current unit of work', async () => {
    const notes = Note.bindKnex(db.modelKnex());
    await captureError(
      db.transaction(async () => {
        await notes.query().insert({});
        throw new Error('on purpose');
      }),
    );
    expect(await notes.query().resultSize()).to.equal(0);
  });

  it('the Knex of models has no raw statements, DDL and transactions', () => {
    const knex = db.modelKnex();
    for (const use of [() => knex.raw('select 1'), () => knex.schema, () => knex.transaction])
      expect(use).to.throw(/the Knex of models has no/);
  });
});
