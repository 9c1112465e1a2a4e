import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import { createSharer, createVisitor, prepareShareTables, readAll, type TestVisitor } from './share-fixture.ts';
import type { TestPermission } from './test-users.ts';

describe('paths from a shared item', () => {
  let service: InProcessService;
  before(async function () {
    this.timeout(120_000);
    service = await startService();
    await prepareShareTables(service);
  });
  after(() => service?.stop());

  const visit = async (permissions: readonly TestPermission[], shared: { collection: string; item: string }) =>
    createVisitor(service, { role: (await createSharer(service, permissions)).role, ...shared });
  const idsOf = async (collection: string, { token }: TestVisitor): Promise<unknown> => {
    const { status, body } = await service.request('GET', `/items/${collection}?fields=id&sort=id`, { token });
    return status === 200 ? body.data.map(({ id }: { id: unknown }) => id) : status;
  };

  it('a path has at most six relations, and a share at most 200 paths', async () => {
    const names = Array.from({ length: 8 }, (_, at) => `link${at}`);
    for (const [at, name] of names.toReversed().entries())
      await service.database.query(
        `create table ${name} (id serial primary key${at === 0 ? '' : `, next int references link${8 - at}`})`,
      );
    for (const [at, name] of names.toReversed().entries())
      await service.database.query(
        at === 0 ? `insert into ${name} default values` : `insert into ${name} (next) values (1)`,
      );
    const visitor = await visit(readAll(...names), { collection: 'link0', item: '1' });
    expect(await Promise.all(names.map((name) => idsOf(name, visitor)))).to.deep.equal([
      [1],
      [1],
      [1],
      [1],
      [1],
      [1],
      [1],
      403,
    ]);

    const columns = Array.from({ length: 230 }, (_, at) => `c${String(at).padStart(3, '0')} int references author`);
    await service.database.query(`create table hub (id serial primary key, ${columns.join(', ')})`);
    await service.database.query('insert into hub (c000, c229) values (1, 2)');
    const ofHub = await visit(readAll('hub', 'author'), { collection: 'hub', item: '1' });
    expect(await idsOf('author', ofHub)).to.deep.equal([1]);
    expect(await idsOf('hub', ofHub)).to.deep.equal([1]);
  });
});
