import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { type InProcessService, startService } from '../support/service.ts';

/** The tables that the plugins for files create. A database without them is like one of an earlier version. */
const TABLES = ['files', 'orphaned_objects', 'settings', 'uploads', 'upload_pieces'].map((name) => `platform_${name}`);
const OWNERS = ['files', 'settings', 'assets', 'tus'].map((name) => `@tenon/${name}`);

describe('files: upgrade of a database without files', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let service: InProcessService | undefined;
  before(async () => {
    database = await freshDatabase('files_upgrade');
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const start = async () => {
    await service?.stop();
    service = await startService({ database });
    return service;
  };
  const avatars = () =>
    database.query<{ email: string; avatar: string | null }>('select email, avatar from platform_users order by email');

  it('an upgrade clears avatars without a file and keeps valid ones', async () => {
    await start();
    await service?.stop();
    service = undefined;
    await database.query(`drop table ${TABLES.join(', ')} cascade`);
    await database.query(
      `delete from platform_migrations where owner = any($1::text[]) or id like 'system-collections-%'`,
      [OWNERS],
    );
    // New users take defaults from the settings since a later version.
    for (const field of ['language', 'appearance', 'theme_light', 'theme_dark'])
      await database.query(`drop function platform_new_user_${field} cascade`);
    await database.query(`delete from platform_migrations where id = '2026-11-26-account-defaults'`);
    await database.query('update platform_users set avatar = gen_random_uuid()');
    await database.query(`insert into platform_users (id, email) values (gen_random_uuid(), 'another@example.com')`);
    // As in an earlier version, avatars have no foreign key yet: the upgrade must create it.
    const constraints = await database.query(
      `select from pg_constraint where contype = 'f' and conrelid = 'platform_users'::regclass and conname like '%avatar%'`,
    );
    expect(constraints, 'a foreign key from before').to.deep.equal([]);

    const { request, admin } = await start();
    expect((await avatars()).map(({ avatar }) => avatar)).to.deep.equal([null, null]);
    const { token } = admin;
    expect((await request('GET', '/settings', { token })).body.data.project_name).to.equal('Tenon');
    const form = new FormData();
    form.set('file', new Blob(['me']), 'me.txt');
    const { id } = (await request('POST', '/files', { token, body: form })).body.data;
    expect((await request('PATCH', '/users/me', { token, body: { avatar: id } })).status).to.equal(200);

    const again = await start();
    expect((await avatars()).map(({ avatar }) => avatar)).to.deep.equal([id, null]);
    expect((await again.request('DELETE', `/files/${id}`, { token: again.admin.token })).status).to.equal(204);
    expect((await avatars()).map(({ avatar }) => avatar)).to.deep.equal([null, null]);
  });
});
