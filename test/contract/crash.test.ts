import { expect } from 'chai';
import { freshDatabase } from '../support/database.ts';
import { spawnService } from '../support/service.ts';

describe('contract: a process of the product', function () {
  // Starts whole processes, several of them, perhaps on a busy machine.
  this.timeout(60_000);

  it('is killed in the middle of a large write, and after a restart all rows are there or none', async () => {
    const database = await freshDatabase('crash');
    try {
      await database.query('create table thing (id serial primary key, name text not null)');
      const service = await spawnService({ database });
      const rows = Array.from({ length: 10_000 }, (_, at) => ({ name: `thing ${at}` }));
      const body = JSON.stringify(rows);
      const written = service.request('POST', '/items/thing?fields=id', { token: service.admin.token, body }).then(
        ({ status }) => status,
        () => 'cut',
      );
      // Inside the write: its transaction has begun to insert.
      await until(async () => {
        const [busy] = await database.query<{ busy: boolean }>(
          `select exists (select from pg_stat_activity where datname = current_database() and backend_xid is not null) as busy`,
        );
        return busy?.busy === true;
      });
      await service.kill('SIGKILL');
      expect(await written).to.equal('cut');
      await service.stop();

      const again = await spawnService({ database });
      const reply = await again.request('GET', '/items/thing?limit=1&meta=total_count', { token: again.admin.token });
      await again.stop();
      expect(reply.body.meta.total_count).to.be.oneOf([0, 10_000]);
    } finally {
      await database.drop();
    }
  });

  it('ends by itself on SIGTERM, with 0', async () => {
    const service = await spawnService();
    await service.kill('SIGTERM');
    await service.stop();
    expect(service.output()).not.to.contain('Error');
  });

  it('starts beside another one on an empty database at the same moment; each sees what the other writes', async () => {
    const database = await freshDatabase('pair');
    try {
      const [one, two] = await Promise.all([spawnService({ database }), spawnService({ database })]);
      const options = { token: one.admin.token };
      const made = await one.request('POST', '/collections', {
        ...options,
        body: {
          collection: 'note',
          schema: {},
          meta: {},
          fields: [{ field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } }],
        },
      });
      expect(made.status).to.equal(200);
      // The other's token is good here too: both were given the same secret.
      const seen = await two.request('GET', '/items/note', options);
      expect([seen.status, seen.body]).to.deep.equal([200, { data: [] }]);
      const users = await two.request('GET', '/users?fields=email', options);
      expect(users.body.data).to.deep.equal([{ email: one.admin.email }]);
      await Promise.all([one.stop(), two.stop()]);
    } finally {
      await database.drop();
    }
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await holds())) if (Date.now() > deadline) throw new Error('it never happened');
}
