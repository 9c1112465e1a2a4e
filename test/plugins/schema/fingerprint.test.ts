import { expect } from 'chai';
import { renderFingerprintStatement } from '../../../plugins/schema/catalog/statement.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { createLargeSchema } from '../../support/large-schema.ts';

describe('renderFingerprintStatement', () => {
  let database: FreshDatabase;
  before(async () => {
    database = await freshDatabase('fingerprint');
    const registry = ['collections', 'fields', 'relations'].map((name) => `create table platform_${name} (id int)`);
    await database.query(registry.join(';'));
    await createLargeSchema(database, 20);
  });
  after(() => database?.drop());

  it('the plan compares no constraint with every table, though the catalogs are not analysed', async () => {
    const text = renderFingerprintStatement('public').replaceAll('$1', `'{public}'`);
    const rows = await database.query<{ 'QUERY PLAN': string }>(`explain ${text}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).to.include('pg_constraint').and.to.include('hashed SubPlan');
    expect(plan).not.to.include('Nested Loop');
  });
});
