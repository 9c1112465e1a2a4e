import { expect } from 'chai';
import type { FreshDatabase } from '../../support/database.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type SamlIdentityProvider, startSamlIdentityProvider } from '../../support/saml-identity-provider.ts';
import { FOREIGN_KEY, SP_CERTIFICATE, SP_KEY } from '../../support/saml-keys.ts';
import { createMigratedDatabase } from '../../support/service.ts';
import { type SimpleSamlPhp, startSimpleSamlPhp } from '../../support/simplesamlphp.ts';
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
} from '../auth-providers/check-run.ts';
import { startSamlFixture } from './saml-fixture.ts';

/** A certificate that was valid in the year 2020. */
const EXPIRED_CERTIFICATE =
  'MIIBCjCBsgIBATAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdleHBpcmVkMB4XDTIwMDEwMTAwMDAwMFoXDTIxMDEwMTAwMDAwMFowEjEQMA4GA1UEAwwHZXhwaXJlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKTbEaqliYO8Aa1s3fp4NjdtKnhdYGw4bWu7yY6rNfTILss7Ycm1rFHciQoqOTrkl4AWmslKmnw7E4BEMbS7mpgwCgYIKoZIzj0EAwIDRwAwRAIgUndsUv4b8yXXlxRYnbUsPl950dyJSwLy6+tGI3TV+SYCIGzVh4NOwO79nv4b3mEpGv6u5Y3SR0C1n9FcnPteLB4O';

describe('auth check, of identity providers of SAML', function () {
  this.timeout(240_000);
  let database: FreshDatabase;
  let publicUrl: string;
  let simple: SimpleSamlPhp;
  let idp: SamlIdentityProvider;
  let report: CheckReport;
  before(async () => {
    database = await createMigratedDatabase('saml-check');
    publicUrl = `http://127.0.0.1:${await findFreePort()}`;
    simple = await startSimpleSamlPhp({ service: `${publicUrl}/auth/login/good`, encrypts: false, users: {} });
    idp = await startSamlIdentityProvider();
    const keys = { SP_PRIVATE_KEY: SP_KEY, SP_CERTIFICATE };
    const byUrl = { IDP_METADATA_URL: simple.metadataUrl, COOKIE_SECURE: 'true', ...keys };
    const expired = idp.metadata.replaceAll(/(<(?:\w+:)?X509Certificate>)[^<]+/g, `$1${EXPIRED_CERTIFICATE}`);
    const old = idp.metadata.replace('entityID=', 'validUntil="2020-01-01T00:00:00Z" entityID=');
    report = reportOf(
      await runAuthCheck(database, ['--json'], {
        PUBLIC_URL: publicUrl,
        ...settingsOf('good', byUrl),
        // SimpleSAMLphp knows the service by the metadata of `good` only.
        ...settingsOf('unknown', byUrl),
        ...settingsOf('insecure', {
          ...byUrl,
          COOKIE_SECURE: '',
          SP_ENTITY_ID: `${publicUrl}/auth/login/good/metadata`,
        }),
        ...settingsOf('away', { ...byUrl, IDP_METADATA_URL: 'http://localhost:1/metadata' }),
        ...settingsOf('page', { ...byUrl, IDP_METADATA_URL: `${simple.origin}/` }),
        ...settingsOf('expired', { IDP_metadata: expired, COOKIE_SECURE: 'true', ...keys }),
        ...settingsOf('old', { IDP_metadata: old }),
        ...settingsOf('none', {}),
        ...settingsOf('keys', { IDP_metadata: idp.metadata, SP_PRIVATE_KEY: FOREIGN_KEY, SP_CERTIFICATE }),
      }),
    );
  });
  after(async () => {
    await idp?.stop();
    await simple?.stop();
    await database?.drop();
  });

  const settingsOf = (name: string, settings: Record<string, string>) =>
    providerSettings(name, { DRIVER: 'saml', ...settings });
  /** The service does not run here, and the identity provider of the package samlify needs a service that answers. */
  const isOrdinary = (problem: string, provider: string): boolean =>
    problem === 'warn own metadata' || (provider === 'expired' && problem === 'fail sign-in page');

  it('finds everything in order with SimpleSAMLphp, and names both sides and the ends of certificates', () => {
    const problems = problemsOf(report, 'good').filter((one) => !isOrdinary(one, 'good'));
    expect(problems, JSON.stringify(findingsOf(report, 'good'))).to.deep.equal([]);
    expect(textOf(report, 'good', 'metadata')).to.contain('urn:example:simplesamlphp');
    expect(textOf(report, 'good', 'certificate')).to.match(/is valid until \d{4}-/);
    expect(textOf(report, 'good', 'own certificate')).to.match(/^ok: that of AUTH_GOOD_SP_CERTIFICATE is valid until/);
    expect(textOf(report, 'good', 'callback')).to.contain(`${publicUrl}/auth/login/good/acs`);
  });
  const cases: readonly CheckCase[] = [
    ['unknown', 'warn sign-in page', `whose entityID is`],
    ['insecure', 'warn cookie', 'AUTH_INSECURE_COOKIE_SECURE'],
    ['away', 'fail metadata', 'AUTH_AWAY_IDP_METADATA_URL'],
    ['page', 'fail metadata', 'AUTH_PAGE_IDP_METADATA_URL'],
    ['expired', 'warn certificate', 'is expired since 2021-01-01'],
    ['old', 'fail settings', 'expired'],
    ['none', 'fail settings', 'set either AUTH_NONE_IDP_metadata or AUTH_NONE_IDP_METADATA_URL'],
    ['keys', 'fail settings', 'AUTH_KEYS_SP_CERTIFICATE is not the certificate of AUTH_KEYS_SP_PRIVATE_KEY'],
  ];
  testCheckFindings(cases, () => report, isOrdinary);
  it('prints no private key', () => {
    for (const key of [SP_KEY, FOREIGN_KEY]) expect(JSON.stringify(report)).not.to.contain(key.split('\n')[1]);
  });
  it('finds the metadata that the service serves, where it runs', async () => {
    const fixture = await startSamlFixture({ IDP_metadata: '', IDP_METADATA_URL: simple.metadataUrl });
    try {
      const own = settingsOf('corp', { IDP_METADATA_URL: simple.metadataUrl });
      const run = await runAuthCheck(fixture.database, ['--json'], { PUBLIC_URL: fixture.service.url, ...own });
      expect(textOf(reportOf(run), 'corp', 'own metadata')).to.match(/^ok: served at /);
    } finally {
      await fixture.stop();
    }
  });
});
