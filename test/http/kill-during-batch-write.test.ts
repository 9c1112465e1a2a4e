import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type SpawnedService, spawnService } from '../support/service.ts';

const ROWS = 10_000;

describe('a process that is killed', () => {
  let database: FreshDatabase;
  let service: SpawnedService | undefined;
  before(async () => {
    database = await createMigratedDatabase('crash');
    await database.query('create table thing (id serial primary key, name text, at int)');
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  it('stores all or none of a batch of 10,000 rows', async function () {
    this.timeout(120_000);
    const body = Array.from({ length: ROWS }, (_, at) => ({ name: `name ${at}`, at }));
    for (const moment of ['after the first rows', 'at once'] as const) {
      await database.query('truncate thing restart identity');
      service = await spawnService({ database, env: { MAX_PAYLOAD_SIZE: '10mb' } });
      const { token } = service.admin;
      const answer = service.request('POST', '/items/thing?fields=id', { token, body }).catch(() => undefined);
      if (moment === 'after the first rows') {
        // The sequence is not transactional: its value says that rows are being inserted while none can be seen.
        for (const until = Date.now() + 30_000; Date.now() < until; ) {
          const [row] = await database.query<{ called: boolean }>('select is_called as called from thing_id_seq');
          if (row?.called) break;
        }
      }
      await service.kill('SIGKILL');
      await answer;
      await service.stop();
      service = undefined;
      const again = await spawnService({ database });
      try {
        const reply = await again.request('GET', '/items/thing?limit=0&meta=total_count', { token: again.admin.token });
        expect(reply.status).to.equal(200);
        expect([0, ROWS]).to.include(reply.body.meta.total_count);
      } finally {
        await again.stop();
      }
    }
  });

  it('without a kill, all 10,000 rows are stored', async function () {
    this.timeout(120_000);
    await database.query('truncate thing restart identity');
    service = await spawnService({ database, env: { MAX_PAYLOAD_SIZE: '10mb' } });
    const body = Array.from({ length: ROWS }, (_, at) => ({ name: `name ${at}`, at }));
    const { status, body: answer } = await service.request('POST', '/items/thing?fields=at', {
      token: service.admin.token,
      body,
    });
    expect(status).to.equal(200);
    expect(answer.data.map((row: { at: number }) => row.at)).to.deep.equal(body.map((row) => row.at));
  });
});
