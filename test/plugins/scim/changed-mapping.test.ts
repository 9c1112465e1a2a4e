import { expect } from 'chai';
import { freshDatabase } from '../../support/database.ts';
import { startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createRoles, GROUP, ROLES, scimSettings, sendTo, USER } from './scim-fixture.ts';

describe('a change of ROLE_MAPPING of a provider with groups of SCIM', function () {
  this.timeout(120_000);

  it('gives the members of groups their new roles at the next start, and touches no other user', async () => {
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
      for (const [displayName, value] of [
        ['Editors', ann],
        ['Writers', bob],
        ['Others', cat],
      ])
        expect(
          (await send('POST', '/Groups', { schemas: [GROUP], displayName, members: [{ value }] })).status,
        ).to.equal(201);
      await database.query('update platform_users set role = $2 where id = $1', [cat, ROLES.author]);
      const roles = async () => {
        const rows = await database.query<{ id: string; role: string }>('select id, role from platform_users');
        return [ann, bob, cat].map((id) => rows.find((one) => one.id === id)?.role);
      };
      expect(await roles()).to.deep.equal([ROLES.editor, ROLES.member, ROLES.author]);
      await first.stop();

      const second = await startService(mappedTo({ Writers: ROLES.author }));
      await until(async () => (await roles())[1] === ROLES.author);
      expect(await roles()).to.deep.equal([ROLES.member, ROLES.author, ROLES.author]);
      await second.stop();

      const third = await startService({
        ...mappedTo({ Writers: ROLES.admin }),
        env: { ...mappedTo({ Writers: ROLES.admin }).env, LOG_LEVEL: 'error' },
      });
      await until(async () => third.log.some(({ msg }) => msg === 'the roles of groups of SCIM are not up to date'));
      expect(await roles()).to.deep.equal([ROLES.member, ROLES.author, ROLES.author]);
      await third.stop();
    } finally {
      await database.drop();
    }
  });
});
