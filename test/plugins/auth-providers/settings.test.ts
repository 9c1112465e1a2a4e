import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, startService } from '../../support/service.ts';
import { captureError } from '../../support/test-plugins.ts';
import { openIdSettings, type ProviderFixture, startProviderFixture, userOf } from './provider-fixture.ts';

describe('settings of sign-in providers', function () {
  this.timeout(180_000);
  let database: FreshDatabase;
  before(async () => {
    database = await createMigratedDatabase('providers');
  });
  after(() => database?.drop());

  const OPENID = {
    AUTH_CORP_DRIVER: 'openid',
    AUTH_CORP_ISSUER_URL: 'https://id.example.com',
    AUTH_CORP_CLIENT_ID: 'service',
  };
  const refusalOf = async (env: Record<string, string>) => {
    const { message, remedy } = await captureError<Error & { remedy?: string }>(startService({ database, env }));
    return `${message} ${remedy}`;
  };

  for (const [what, env, ...parts] of [
    [
      'an unknown key, with the nearest one',
      { ...OPENID, AUTH_CORP_CLIENT_SECRT: 'x' },
      'AUTH_CORP_CLIENT_SECRT',
      'did you mean AUTH_CORP_CLIENT_SECRET',
    ],
    ['a key of another driver', { ...OPENID, AUTH_CORP_PROFILE_URL: 'x' }, 'AUTH_CORP_PROFILE_URL'],
    ['a missing key', { AUTH_CORP_DRIVER: 'openid', AUTH_CORP_CLIENT_ID: 'x' }, 'set AUTH_CORP_ISSUER_URL'],
    ['a driver that no plugin brings', { AUTH_CORP_DRIVER: 'opnid' }, 'opnid', 'AUTH_CORP_DRIVER'],
    ['a provider of AUTH_PROVIDERS without a driver', { AUTH_PROVIDERS: 'corp' }, 'AUTH_CORP_DRIVER'],
    ['names with the same settings', { ...OPENID, AUTH_PROVIDERS: 'corp,CORP' }, 'AUTH_CORP_*'],
    ['the name default', { AUTH_DEFAULT_DRIVER: 'openid' }, '"default"'],
    ['a wrong value', { ...OPENID, AUTH_CORP_TIMEOUT: 'soon' }, 'AUTH_CORP_TIMEOUT', 'duration'],
    ['a role that is no key', { ...OPENID, AUTH_CORP_DEFAULT_ROLE_ID: 'admins' }, 'AUTH_CORP_DEFAULT_ROLE_ID'],
    ['the Public role', { ...OPENID, AUTH_CORP_DEFAULT_ROLE_ID: '00000000-0000-0000-0000-000000000000' }, 'Public'],
    [
      'a mapping that is a list',
      { ...OPENID, AUTH_CORP_ROLE_MAPPING: '[]' },
      'AUTH_CORP_ROLE_MAPPING must be an object',
    ],
    ['a mapping to what is no key', { ...OPENID, AUTH_CORP_ROLE_MAPPING: '{"a":"admins"}' }, 'the group "a"'],
    ['parameters of the protocol', { ...OPENID, AUTH_CORP_PARAMS: '{"state":"x"}' }, 'PARAMS may not set state'],
    ['an address that is none', { ...OPENID, AUTH_CORP_ISSUER_URL: 'id.example.com' }, 'AUTH_CORP_ISSUER_URL'],
    ['a relative PUBLIC_URL', { ...OPENID, PUBLIC_URL: '/' }, 'set PUBLIC_URL'],
    [
      'a file that is not there',
      { ...OPENID, AUTH_CORP_CLIENT_SECRET_FILE: '/nowhere' },
      'AUTH_CORP_CLIENT_SECRET_FILE',
      'ENOENT',
    ],
    [
      'a provider that has to answer',
      { ...OPENID, AUTH_CORP_ISSUER_URL: 'http://127.0.0.1:1', AUTH_CORP_ISSUER_DISCOVERY_MUST_SUCCEED: 'true' },
      'cannot be reached',
    ],
  ] as const) {
    it(`stop the start for ${what}`, async () => {
      const text = await refusalOf(env as Record<string, string>);
      for (const part of parts) expect(text).to.contain(part);
    });
  }

  it('of several providers belong to the one with the longest name, and AUTH_PROVIDERS chooses and orders', async () => {
    const env = {
      ...OPENID,
      AUTH_CORP_EU_DRIVER: 'openid',
      AUTH_CORP_EU_ISSUER_URL: 'https://eu.example.com',
      AUTH_CORP_EU_CLIENT_ID: 'service',
      AUTH_CORP_EU_LABEL: 'Corporation, Europe',
      AUTH_CORP_EU_ICON: 'flag',
      AUTH_OFF_DRIVER: 'openid',
      AUTH_PROVIDERS: 'corp-eu,corp',
    };
    const service = await startService({ database, env });
    try {
      const { body } = await service.request('GET', '/auth');
      expect(body).to.deep.equal({
        data: [
          { name: 'corp-eu', driver: 'openid', icon: 'flag', label: 'Corporation, Europe' },
          { name: 'corp', driver: 'openid', icon: 'account_circle', label: 'corp' },
        ],
        disableDefault: false,
      });
      for (const path of ['/auth/login/off', '/auth/login/default', '/auth/login/unknown/callback'])
        expect((await service.request('GET', path)).status, path).to.equal(404);
    } finally {
      await service.stop();
    }
  });

  it('name variables of no provider, and roles that do not exist, in the log', async () => {
    const role = '00000000-0000-4000-8000-00000000dead';
    const env = { ...OPENID, AUTH_CORP_DEFAULT_ROLE_ID: role, AUTH_CROP_LABEL: 'x', LOG_LEVEL: 'warn' };
    const service = await startService({ database, env });
    try {
      expect(service.log.find(({ settings }) => settings)?.settings).to.deep.equal(['AUTH_CROP_LABEL']);
      expect(service.log.find(({ roles }) => roles)?.roles).to.deep.equal([role]);
    } finally {
      await service.stop();
    }
  });

  describe('in files', () => {
    let fixture: ProviderFixture;
    let folder: string;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'tenon-provider-secrets-'));
      fixture = await startProviderFixture({
        env: { LOG_LEVEL: 'trace' },
        providers(server) {
          writeFileSync(join(folder, 'secret'), `${server.secret}\n`);
          const { AUTH_FILED_CLIENT_SECRET: _secret, ...settings } = openIdSettings('filed', server, {
            ALLOW_PUBLIC_REGISTRATION: 'true',
            CLIENT_SECRET_FILE: join(folder, 'secret'),
          }) as Record<string, string>;
          return settings;
        },
      }).catch(async (error) => {
        await rm(folder, { recursive: true });
        throw error;
      });
    });
    after(async () => {
      await fixture?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    it('are read anew for each sign-in, so that a secret rotates without a restart, and shown nowhere', async () => {
      fixture.server.user = { sub: 'filed', email: 'filed@example.com' };
      expect((await fixture.signIn('filed')).status).to.equal(200);
      fixture.server.secret = 'the next secret of the client';
      const refused = await fixture.signIn('filed');
      expect([refused.status, refused.code]).to.deep.equal([503, 'INVALID_CONFIG']);
      await writeFile(join(folder, 'secret'), fixture.server.secret);
      expect((await fixture.signIn('filed')).status).to.equal(200);
      expect((await userOf(fixture.service, 'filed@example.com'))?.provider).to.equal('filed');
      const { callback } = await fixture.signIn('filed');
      const log = JSON.stringify(fixture.service.log);
      for (const name of ['code', 'state']) expect(log).not.to.contain(callback?.searchParams.get(name));
      expect(log).to.contain('/auth/login/filed');
      expect(log).not.to.contain('secret of the client');
    });
  });
});
