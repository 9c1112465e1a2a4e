import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { createMigratedDatabase, startService } from '../../support/service.ts';

/** What a version without ids of sessions had: neither columns nor table, nor the record of the migration that adds them. */
const OLDER_VERSION = `
  alter table platform_sessions drop column id, drop column created, drop column last_used;
  drop table platform_spent_tokens;
  delete from platform_migrations where id like '%system-collections-%'`;

describe('a database of a version whose sessions have no id', () => {
  it('keeps its sessions, which get ids of their own', async function () {
    this.timeout(120_000);
    const database = await createMigratedDatabase('session_ids');
    try {
      await database.query(OLDER_VERSION);
      const tokens = ['a', 'b'].map((letter) => letter.repeat(64));
      for (const token of tokens)
        await database.query(
          `insert into platform_sessions (token, "user", expires)
            select $1, id, now() + interval '1 hour' from platform_users where email = 'admin@example.com'`,
          [createHash('sha256').update(token).digest('hex')],
        );
      const service = await startService({ database });
      try {
        const ids = await database.query<{ id: string }>('select distinct id from platform_sessions');
        expect(ids).to.have.length(2);
        const reply = await service.request('POST', '/auth/refresh', { body: { refresh_token: tokens[0] } });
        expect(reply.status).to.equal(200);
        const { data } = (await service.request('GET', '/users/me/sessions', { token: reply.body.data.access_token }))
          .body;
        expect(data.map(({ current, created }: Record<string, unknown>) => [current, created])).to.deep.equal([
          [true, null],
          [false, null],
        ]);
        expect(data.map(({ id }: { id: string }) => id).sort()).to.deep.equal(ids.map(({ id }) => id).sort());
      } finally {
        await service.stop();
      }
    } finally {
      await database.drop();
    }
  });
});
