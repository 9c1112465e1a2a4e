import { expect } from 'chai';
import { freshDatabase } from '../../support/database.ts';
import { startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createRoles, GROUP, ROLES, scimSettings, sendTo, USER } from './scim-fixture.ts';

describe('a change of ROLE_MAPPING of a provider with groups of SCIM', function () {
  this.timeout(120_000);

  it('gives the members of groups their new roles at the next start, and touches neither other users nor admins', async () => {
    const database = await freshDatabase('scim');
    const mappedTo = (mapping: object) => ({
      env: scimSettings({ ROLE_MAPPING: JSON.stringify(mapping) }),
      database,
    });
    try {
      const first = await startService(mappedTo({ Editors: ROLES.editor }));
      await createRoles(database);
      const send = sendTo(first.url);
      const create = async (userName: string) => (await send('POST', '/Users', { schemas: [USER], userName })).body.id;
      const [ann, bob, cat] = [await create('ann'), await create('bob'), await create('cat')];
      const eve = await create('eve');
      for (const [displayName, value] of [
        ['Editors', ann],
        ['Writers', bob],
        ['Leaders', eve],
        ['Others', cat],
      ])
        expect(
          (await send('POST', '/Groups', { schemas: [GROUP], displayName, members: [{ value }] })).status,
        ).to.equal(201);
      await database.query('update platform_users set role = $2 where id = $1', [cat, ROLES.author]);
      await database.query('update platform_users set role = $2 where id = $1', [eve, ROLES.admin]);
      const roles = async () => {
        const rows = await database.query<{ id: string; role: string }>('select id, role from platform_users');
        return [ann, bob, cat, eve].map((id) => rows.find((one) => one.id === id)?.role);
      };
      expect(await roles()).to.deep.equal([ROLES.editor, ROLES.member, ROLES.author, ROLES.admin]);
      await first.stop();

      const second = await startService(mappedTo({ Leaders: ROLES.member, Writers: ROLES.author }));
      await until(async () => (await roles())[1] === ROLES.author);
      expect(await roles()).to.deep.equal([ROLES.member, ROLES.author, ROLES.author, ROLES.admin]);
      await second.stop();

      const { env } = mappedTo({ Leaders: ROLES.admin, Writers: ROLES.admin });
      const third = await startService({ database, env: { ...env, LOG_LEVEL: 'warn' } });
      const line = await until(() => third.log.find(({ msg }) => String(msg).startsWith('admins keep their roles')));
      expect(line).to.include({ provider: 'corp', users: 1 });
      expect(await roles()).to.deep.equal([ROLES.member, ROLES.author, ROLES.author, ROLES.admin]);
      await third.stop();
    } finally {
      await database.drop();
    }
  });
});
