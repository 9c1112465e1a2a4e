import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { createTestUserAccount, createUserSender, makeRole, type SendAsUser } from './test-users.ts';

const FIELDS = ['language', 'appearance', 'theme_light', 'theme_dark'] as const;
const SETTINGS = {
  default_language: 'de-DE',
  default_appearance: 'dark',
  default_theme_light: 'Sand',
  default_theme_dark: 'Slate',
};
const EXPECTED = { language: 'de-DE', appearance: 'dark', theme_light: 'Sand', theme_dark: 'Slate' };

describe('new accounts', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let admin: SendAsUser;
  let count = 0;
  beforeEach(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
  });
  afterEach(() => service?.stop());

  const newEmail = () => `new${++count}@example.com`;
  const stored = async (email: string) =>
    (await service.database.query(`select ${FIELDS.join(', ')} from platform_users where email = $1`, [email]))[0];

  it('have the defaults of the settings where none are stored, the first admin too', async () => {
    const standard = { language: 'en-US', appearance: 'auto', theme_light: null, theme_dark: null };
    const email = newEmail();
    await admin('POST', '/users', { email });
    expect(await stored(email)).to.deep.equal(standard);
    expect(await stored(service.admin.email)).to.deep.equal(standard);
  });

  it('have the values of the settings, whatever way they are made', async () => {
    await admin('PATCH', '/settings', SETTINGS);
    const emails = Array.from({ length: 6 }, newEmail);
    const [one, two, three, nested, graphql, sql] = emails as [string, string, string, string, string, string];
    const answer = await admin('POST', '/users', { email: one });
    expect(answer.body.data).to.deep.include(EXPECTED);
    await admin('POST', '/users', [{ email: two }, { email: three, first_name: 'Kim' }]);
    await admin('POST', '/roles', { name: 'Nested', users: { create: [{ email: nested }], update: [], delete: [] } });
    const query = `mutation { create_users_item(data: { email: "${graphql}" }) { id } }`;
    expect((await admin('POST', '/graphql/system', { query })).body.errors).to.equal(undefined);
    await service.database.query('insert into platform_users (id, email) values (gen_random_uuid(), $1)', [sql]);
    for (const email of emails) expect(await stored(email), email).to.deep.equal(EXPECTED);
  });

  it('keep what their maker sets, null included', async () => {
    await admin('PATCH', '/settings', SETTINGS);
    const email = newEmail();
    await admin('POST', '/users', { email, language: 'fr-FR', appearance: null, theme_light: null });
    expect(await stored(email)).to.deep.equal({
      language: 'fr-FR',
      appearance: null,
      theme_light: null,
      theme_dark: 'Slate',
    });
  });

  it('have them where their maker may not set these fields, and presets of the permission win', async () => {
    await admin('PATCH', '/settings', SETTINGS);
    const create = { collection: 'platform_users', action: 'create', fields: ['email'] };
    for (const [presets, expected] of [
      [null, EXPECTED],
      [{ language: 'it-IT' }, { ...EXPECTED, language: 'it-IT' }],
    ] as const) {
      const maker = await createTestUserAccount(service, await makeRole(service, {}, [{ ...create, presets }]));
      const email = newEmail();
      expect((await maker.ask('POST', '/users', { email })).status).to.equal(204);
      expect(await stored(email)).to.deep.equal(expected);
    }
  });

  it('follow a change of the settings, and accounts that exist do not', async () => {
    await admin('PATCH', '/settings', SETTINGS);
    const [before, after] = [newEmail(), newEmail()];
    await admin('POST', '/users', { email: before });
    await admin('PATCH', '/settings', { default_language: 'ja-JP', default_theme_dark: null });
    await admin('POST', '/users', { email: after });
    expect(await stored(before)).to.deep.equal(EXPECTED);
    expect(await stored(after)).to.deep.equal({ ...EXPECTED, language: 'ja-JP', theme_dark: null });
  });
});
