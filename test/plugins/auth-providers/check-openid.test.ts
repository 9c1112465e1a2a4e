import { expect } from 'chai';
import type { FreshDatabase } from '../../support/database.ts';
import { findFreePort } from '../../support/free-port.ts';
import { REAL_PROVIDER_CLIENT, type RealOpenIdProvider, startOidcProvider } from '../../support/oidc-provider.ts';
import { type OpenIdServer, type OpenIdServerFaults, startOpenIdServer } from '../../support/openid-server.ts';
import { createMigratedDatabase } from '../../support/service.ts';
import {
  type CheckCase,
  type CheckReport,
  findingsOf,
  problemsOf,
  providerSettings,
  reportOf,
  runAuthCheck,
  testCheckFindings,
  textOf,
} from './check-run.ts';
import { oauth2Settings, openIdSettings } from './provider-fixture.ts';

const SECRET = 'a wrong secret of the client';

describe('auth check, of providers of OpenID Connect and OAuth2', function () {
  this.timeout(240_000);
  let database: FreshDatabase;
  let publicUrl: string;
  const servers: { stop(): Promise<void> }[] = [];
  before(async () => {
    database = await createMigratedDatabase('auth-check');
    publicUrl = `http://127.0.0.1:${await findFreePort()}`;
  });
  after(async () => {
    for (const server of servers) await server.stop();
    await database?.drop();
  });

  async function startServer(faults: OpenIdServerFaults = {}): Promise<OpenIdServer> {
    const server = await startOpenIdServer();
    server.faults = faults;
    servers.push(server);
    return server;
  }

  async function check(settings: Readonly<Record<string, string>>, args: readonly string[] = []): Promise<CheckReport> {
    return reportOf(await runAuthCheck(database, ['--json', ...args], { PUBLIC_URL: publicUrl, ...settings }));
  }

  /** What a provider without a fault has to say while the service does not run, on this machine without https. */
  const ORDINARY = ['warn callback answers', 'warn encryption'];

  describe('with oidc-provider behind them', () => {
    let provider: RealOpenIdProvider;
    let report: CheckReport;
    const settingsOf = (name: string, more: Record<string, string> = {}) =>
      providerSettings(name, {
        DRIVER: 'openid',
        ISSUER_URL: provider.issuer,
        CLIENT_ID: REAL_PROVIDER_CLIENT.id,
        CLIENT_SECRET: REAL_PROVIDER_CLIENT.secret,
        ...more,
      });
    before(async () => {
      provider = await startOidcProvider(publicUrl, 'good');
      servers.push(provider);
      report = await check({
        ...settingsOf('good', { CLOCK_TOLERANCE: '10s' }),
        // The provider knows the callback of `good` only.
        ...settingsOf('elsewhere'),
        ...settingsOf('unregistered', { CLIENT_ID: 'unknown' }),
        ...settingsOf('locked', { CLIENT_SECRET: SECRET }),
        ...settingsOf('scope', { SCOPE: 'openid email calendar' }),
      });
    });

    it('finds everything in order where it is', () => {
      expect(problemsOf(report, 'good'), JSON.stringify(findingsOf(report, 'good'))).to.deep.equal(ORDINARY);
      expect(findingsOf(report, 'good').map(({ check: one }) => one)).to.deep.equal([
        ...[
          'settings',
          'registration',
          'callback',
          'callback answers',
          'discovery document',
          'encryption',
          'signatures',
        ],
        ...['scopes', 'identifier', 'keys', 'authorization', 'token endpoint', 'sign-out', 'response times', 'clock'],
      ]);
      expect(textOf(report, 'good', 'callback')).to.contain(`${publicUrl}/auth/login/good/callback`);
    });
    it('finds a callback that is not registered', () => {
      expect(problemsOf(report, 'elsewhere')).to.deep.equal([...ORDINARY, 'fail authorization']);
      expect(textOf(report, 'elsewhere', 'authorization')).to.contain(
        `register ${publicUrl}/auth/login/elsewhere/callback`,
      );
    });
    it('finds a client that the provider does not know', () => {
      const problems = problemsOf(report, 'unregistered');
      expect(problems).to.deep.equal([...ORDINARY, 'fail authorization', 'fail token endpoint']);
      expect(textOf(report, 'unregistered', 'token endpoint')).to.contain('check AUTH_UNREGISTERED_CLIENT_ID');
    });
    it('finds a wrong secret, and does not print it', () => {
      expect(problemsOf(report, 'locked')).to.include('fail token endpoint');
      expect(textOf(report, 'locked', 'token endpoint')).to.contain('AUTH_LOCKED_CLIENT_SECRET');
      expect(JSON.stringify(report)).not.to.contain(SECRET).and.not.to.contain(REAL_PROVIDER_CLIENT.secret);
    });
    it('finds a scope that the provider does not have', () => {
      expect(textOf(report, 'scope', 'scopes'))
        .to.contain('calendar')
        .and.to.contain('AUTH_SCOPE_SCOPE');
    });
  });

  describe('with a fault', () => {
    let report: CheckReport;
    before(async () => {
      const json = { 'content-type': 'application/json' };
      const fault = (name: string, faults: OpenIdServerFaults, more: Record<string, string> = {}) =>
        startServer(faults).then((server) => openIdSettings(name, server, more));
      const away = `http://127.0.0.1:${await findFreePort()}`;
      const plain = await startServer({
        answer: { '/userinfo': (response) => void response.writeHead(404).end() },
      });
      report = await check({
        ...(await fault('away', {}, { ISSUER_URL: away })),
        ...(await fault('issuer', {
          discovery: (document) => Object.assign(document, { issuer: 'https://another.example.com' }),
        })),
        ...(await fault('hmac', {
          discovery: (document) => Object.assign(document, { id_token_signing_alg_values_supported: ['HS256'] }),
        })),
        ...(await fault('keyless', {
          answer: { '/jwks': (response) => void response.writeHead(200, json).end('{"keys":[]}') },
        })),
        ...(await fault('hang', { answer: { '/.well-known/openid-configuration': () => {} } }, { TIMEOUT: '1500ms' })),
        ...(await fault('late', {
          answer: {
            '/jwks': (response) =>
              void response
                .writeHead(200, { ...json, date: new Date(Date.now() - 3_600_000).toUTCString() })
                .end('{"keys":[{"kty":"RSA"}]}'),
          },
        })),
        ...(await fault('garbage', {
          answer: { '/.well-known/openid-configuration': (response) => void response.end('<p>hello') },
        })),
        ...(await fault('gone', { answer: { '/token': (response) => void response.writeHead(404).end() } })),
        ...(await fault('refuses', { callback: (all) => all.set('error', 'invalid_scope') })),
        ...(await fault('roles', {}, { DEFAULT_ROLE_ID: '00000000-0000-4000-8000-0000000000ff' })),
        ...(await fault('open', {}, { ALLOW_PUBLIC_REGISTRATION: 'true' })),
        ...(await fault('misspelt', {}, { REQUIRE_VERIFIED_MAIL: 'true' })),
        AUTH_UNKNOWN_DRIVER: 'openidd',
        AUTH_EMPTY_DRIVER: 'openid',
        ...oauth2Settings('plain', plain),
        ...oauth2Settings('address', await startServer(), { IDENTIFIER_KEY: '' }),
      });
    });

    const cases: readonly CheckCase[] = [
      ['away', 'fail discovery document', 'ECONNREFUSED'],
      ['issuer', 'fail discovery document', 'correct AUTH_ISSUER_ISSUER_URL'],
      ['hmac', 'fail signatures', 'HS256'],
      ['keyless', 'fail keys', 'has no key that signs'],
      ['hang', 'fail provider', 'did not answer in time'],
      ['late', 'fail clock', / (359|360)\d s behind/],
      ['garbage', 'fail discovery document', 'SERVICE_UNAVAILABLE'],
      ['gone', 'fail token endpoint', 'see whether the address is the right one'],
      ['refuses', 'fail authorization', 'invalid_scope'],
      ['roles', 'fail roles', 'which does not exist'],
      ['open', 'warn registration', 'AUTH_OPEN_DEFAULT_ROLE_ID'],
      ['misspelt', 'fail settings', 'did you mean AUTH_MISSPELT_REQUIRE_VERIFIED_EMAIL?'],
      ['unknown', 'fail settings', 'openidd'],
      ['empty', 'fail settings', 'set AUTH_EMPTY_CLIENT_ID'],
      ['plain', 'fail profile', 'correct AUTH_PLAIN_PROFILE_URL'],
      ['address', 'warn identifier', 'set AUTH_ADDRESS_IDENTIFIER_KEY'],
    ];
    testCheckFindings(
      cases,
      () => report,
      (problem) => ORDINARY.includes(problem),
    );
    it('sums up, and gives every problem a remedy', () => {
      const all = report.providers.flatMap(({ findings }) => findings);
      expect(report.failed).to.equal(all.filter(({ status }) => status === 'fail').length);
      expect(all.filter(({ status, remedy }) => status !== 'ok' && !remedy)).to.deep.equal([]);
    });
  });

  describe('at the command line', () => {
    let server: OpenIdServer;
    let settings: Record<string, string>;
    before(async () => {
      server = await startServer();
      settings = { PUBLIC_URL: publicUrl, ...openIdSettings('one', server) };
    });

    it('prints a line for each finding, and ends with 0 where nothing fails', async () => {
      const { code, text, all } = await runAuthCheck(database, ['one'], settings);
      expect(code, all).to.equal(0);
      expect(text)
        .to.match(/^one \(openid\)\n {2}ok {4}settings /)
        .and.to.match(/0 failed, 2 to look at\.\n$/);
    });
    it('ends with 1 where something fails', async () => {
      const { code, text } = await runAuthCheck(database, [], { ...settings, AUTH_ONE_CLIENT_SECRET: SECRET });
      expect(code).to.equal(1);
      expect(text).to.contain('fail  token endpoint').and.not.to.contain(SECRET);
    });
    it('ends with 2 for a provider that is not there, and for arguments that make no sense', async () => {
      for (const args of [['two'], ['--group', 'a'], ['--nothing'], ['one', 'two']]) {
        const { code, all } = await runAuthCheck(database, args, settings);
        expect([code, all.includes('Usage: auth:check')], args.join(' ')).to.deep.equal([2, true]);
      }
    });
  });
});
