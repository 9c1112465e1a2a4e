import { expect } from 'chai';
import { fail, type Host } from '#kernel';
import type { CredentialsProviderDriver, ProviderDriverDeclaration } from '../../../plugins/auth-providers/contract.ts';
import { type AuthDriverKit, describeAuthDriver, failedAuthDriverChecks } from '../../support/auth-driver-suite.ts';
import { type OpenIdServer, startOpenIdServer } from '../../support/openid-server.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { type TestComposition, writeTestPluginPackages } from '../../support/test-plugins.ts';

const USERS: Readonly<Record<string, { readonly pin: string; readonly verified: boolean; readonly groups: string[] }>> =
  {
    ann: { pin: 'the pin of ann', verified: true, groups: ['editors'] },
    bob: { pin: 'the pin of bob', verified: false, groups: [] },
  };

/** A driver by credentials that asks a server whether it is there, and knows its users itself. */
const desk: ProviderDriverDeclaration & { readonly kind: 'credentials' } = {
  name: 'desk',
  kind: 'credentials',
  keys: { URL: { type: 'string', required: true } },
  schema: {
    type: 'object',
    required: ['card', 'pin'],
    properties: { card: { type: 'string' }, pin: { type: 'string' } },
  },
  identifiers: ['card'],
  open: async (provider) => ({
    async authenticate({ card, pin }, { fetch }) {
      const answer = await fetch(`${provider.value('URL')}/jwks`);
      const body = (await answer.json().catch(() => undefined)) as { keys?: unknown } | undefined;
      if (!body?.keys) throw fail('SERVICE_UNAVAILABLE', 'the desk answers nothing of use');
      const user = Object.hasOwn(USERS, String(card)) ? USERS[String(card)] : undefined;
      if (user?.pin !== pin) throw fail('INVALID_CREDENTIALS', 'unknown card or wrong pin');
      const email = `${card}@desk.example.com`;
      return { identifier: String(card), email, emailVerified: user?.verified, groups: user?.groups };
    },
  }),
};

async function openDeskKit(): Promise<AuthDriverKit> {
  const server = await startOpenIdServer();
  return {
    declaration: desk,
    settings: { URL: server.issuer },
    secrets: Object.values(USERS).map(({ pin }) => pin),
    credentialsOf: (user) => ({ card: user, pin: USERS[user]?.pin }),
    wrongCredentials: [
      { card: 'ann', pin: 'another' },
      { card: 'ann', pin: '' },
      { card: 'eve', pin: 'the pin of ann' },
      { card: '__proto__', pin: 'x' },
    ],
    setFault(fault) {
      const answers = {
        hang: () => {},
        down: (response: import('node:http').ServerResponse) => void response.socket?.destroy(),
        garbage: (response: import('node:http').ServerResponse) => void response.writeHead(200).end('\u0001'),
      };
      server.faults = fault === 'none' ? {} : { answer: { '/jwks': answers[fault] } };
    },
    stop: () => server.stop(),
  };
}

describeAuthDriver('desk of the tests', 'credentials', openDeskKit);

describe('a driver by credentials', function () {
  this.timeout(120_000);

  for (const [defect, finds, authenticate] of [
    [
      'takes an empty password for right',
      'wrong credentials',
      (driver) => (credentials, call) =>
        driver.authenticate(credentials.pin === '' ? { ...credentials, pin: USERS.ann?.pin } : credentials, call),
    ],
    [
      'repeats the password in its message',
      'wrong credentials',
      (driver) => (credentials, call) =>
        driver.authenticate(credentials, call).catch(() => {
          throw fail('INVALID_CREDENTIALS', `it is not ${USERS.ann?.pin}`);
        }),
    ],
  ] as readonly [string, string, (driver: CredentialsProviderDriver) => CredentialsProviderDriver['authenticate']][]) {
    it(`that ${defect} is found by the checks`, async () => {
      const kit = await openDeskKit();
      const open: typeof desk.open = async (provider) => {
        const driver = await desk.open(provider);
        return { authenticate: authenticate(driver) };
      };
      try {
        const failed = await failedAuthDriverChecks({ ...kit, declaration: { ...desk, open } });
        expect(
          failed.some((title) => title.includes(finds)),
          failed.join('; '),
        ).to.equal(true);
      } finally {
        await kit.stop();
      }
    });
  }

  describe('in the service', () => {
    let server: OpenIdServer;
    let plugin: TestComposition;
    let service: InProcessService;
    before(async () => {
      server = await startOpenIdServer();
      plugin = await writeTestPluginPackages([
        {
          name: 'desk',
          manifest: { contributes: { 'auth.providers': { names: ['desk'] } } },
          register: (host: Host) => void host.contribute<ProviderDriverDeclaration>('auth.providers', desk),
        },
      ]);
      service = await startService({
        plugins: plugin.composition.plugins,
        env: {
          LOG_LEVEL: 'warn',
          AUTH_FRONT_DRIVER: 'desk',
          AUTH_FRONT_URL: server.issuer,
          AUTH_FRONT_LABEL: 'Front desk',
          AUTH_FRONT_TIMEOUT: '1500ms',
          AUTH_FRONT_ALLOW_PUBLIC_REGISTRATION: 'true',
        },
      });
    });
    after(async () => {
      await service?.stop();
      await plugin?.remove();
      await server?.stop();
    });

    const login = async (body: unknown) => {
      const reply = await service.request('POST', '/auth/login/front', { body });
      return { ...reply, code: reply.body?.errors?.[0]?.extensions.code as string | undefined };
    };

    it('registers its user, and signs in the same one again', async () => {
      for (let count = 0; count < 2; count++) {
        const { status, body } = await login({ card: 'ann', pin: USERS.ann?.pin });
        expect(status).to.equal(200);
        expect(body.data).to.have.all.keys('access_token', 'refresh_token', 'expires');
      }
      const sql = 'select email, external_identifier from platform_users where provider = $1';
      expect(await service.database.query(sql, ['front'])).to.deep.equal([
        { email: 'ann@desk.example.com', external_identifier: 'ann' },
      ]);
    });

    it('refuses wrong credentials with INVALID_CREDENTIALS and a body of another form with INVALID_PAYLOAD', async () => {
      expect((await login({ card: 'ann', pin: 'x' })).code).to.equal('INVALID_CREDENTIALS');
      expect((await login({ card: 'ann' })).code).to.equal('INVALID_PAYLOAD');
    });

    it('fails with SERVICE_UNAVAILABLE within its limit while the provider hangs', async () => {
      server.faults = { answer: { '/jwks': () => {} } };
      try {
        expect((await login({ card: 'ann', pin: USERS.ann?.pin })).code).to.equal('SERVICE_UNAVAILABLE');
        expect(service.log.map(({ msg }) => msg).join()).to.contain('a sign-in by front failed');
      } finally {
        server.faults = {};
      }
    });

    it('has no redirect: GET /auth/login/<provider> is ROUTE_NOT_FOUND, and GET /auth lists it', async () => {
      expect((await service.request('GET', '/auth/login/front')).status).to.equal(404);
      expect((await service.request('GET', '/auth')).body.data).to.deep.equal([
        { name: 'front', driver: 'desk', icon: 'account_circle', label: 'Front desk' },
      ]);
    });
  });
});
