import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type HttpReply, type InProcessService, startService } from '../support/service.ts';
import { requestAsAdmin } from './test-users.ts';

const ROUNDS = 12;
const WRITERS = 4;

describe('writes while DELETE /fields changes their table', () => {
  let database: FreshDatabase;
  let services: readonly InProcessService[];
  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('field_delete');
    await database.query(`create table busy (id serial primary key, name text);
      insert into busy (name) select 'row ' || n from generate_series(1, 50) n`);
    services = [await startService({ database }), await startService({ database })];
  });
  after(async () => {
    for (const service of services ?? []) await service.stop();
    await database?.drop();
  });

  it('a write is answered 200 or 204, and 4xx only where the payload names the deleted field', async () => {
    let isOver = false;
    const refused: string[] = [];
    const counts = { done: 0, named: 0 };
    const note = (reply: HttpReply, what: string, isNamed: boolean) => {
      const isDone = reply.status === 200 || reply.status === 204;
      if (isDone) counts.done++;
      else if (isNamed && reply.status >= 400 && reply.status < 500) counts.named++;
      else refused.push(`${what}: ${reply.status} ${JSON.stringify(reply.body)}`);
    };
    const write = async (service: InProcessService, writer: number) => {
      const send = (method: string, path: string, body?: unknown) =>
        service.request(method, path, { token: service.admin.token, body });
      for (let at = 0; !isOver; at++) {
        const key = 1 + ((writer * 7 + at) % 50);
        note(await send('PATCH', `/items/busy/${key}`, { name: `by ${writer}` }), 'PATCH', false);
        note(await send('POST', '/items/busy', [{ name: 'a' }, { name: 'b' }]), 'POST', false);
        note(
          await send('PATCH', '/items/busy', [
            { id: key, name: 'c' },
            { id: key + 1, name: 'd' },
          ]),
          'PATCH list',
          false,
        );
        note(await send('PATCH', `/items/busy/${key}`, { extra: 'x' }), 'PATCH with the field', true);
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, at) =>
      write(services[at % services.length] as InProcessService, at),
    );
    const [admin] = services as readonly [InProcessService];
    try {
      for (let round = 0; round < ROUNDS; round++) {
        await requestAsAdmin(admin, 'POST', '/fields/busy', { field: 'extra', type: 'string' });
        await requestAsAdmin(admin, 'DELETE', '/fields/busy/extra');
      }
    } finally {
      isOver = true;
      await Promise.all(writers);
    }
    expect(refused.slice(0, 3)).to.deep.equal([]);
    expect(counts.done).to.be.above(ROUNDS);
  }).timeout(120_000);
});
