import { expect } from 'chai';
import { type AssetStorageFixture, createAssetStorageFixture } from '../../http/asset-storage-fixture.ts';
import { type HttpReply, type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

describe('POST /auth/login under a load of wrong passwords', () => {
  let ground: AssetStorageFixture;
  let service: InProcessService;
  before(async () => {
    ground = await createAssetStorageFixture();
    service = await startService({
      env: { ...ground.env, HASH_PROCESSES: '2', IP_TRUST_PROXY: '1', SERVER_SHUTDOWN_TIMEOUT: '100' },
    });
    // The hashes of these users are so expensive that checking a password takes longer than the test.
    await service.database.query(
      `insert into platform_users (id, email, password)
        select gen_random_uuid(), 'slow' || n || '@example.com', $1 from generate_series(0, 99) n`,
      [`$argon2id$v=19$m=1024,t=100000,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`],
    );
  });
  after(async () => {
    await service?.stop();
    await ground?.remove();
  });

  const login = (from: string, body: Record<string, string>): Promise<HttpReply> =>
    service.request('POST', '/auth/login', { body, headers: { 'x-forwarded-for': from } });

  /** Sends concurrent logins with wrong passwords from these addresses; the returned list collects their responses. */
  function flood(addresses: readonly string[], users = addresses.length): HttpReply[] {
    const answered: HttpReply[] = [];
    for (const [at, from] of addresses.entries()) {
      void login(from, { email: `slow${at % users}@example.com`, password: 'wrong' }).then(
        (reply) => answered.push(reply),
        () => {},
      );
    }
    return answered;
  }

  const hashed = (replies: readonly HttpReply[]) => replies.filter(({ status }) => status !== 503);

  it('answers 503 with Retry-After beyond what one address may have in the queue', async () => {
    const answered = flood(Array.from({ length: 100 }, () => '198.51.100.7'));
    await until(() => answered.length >= 60, 100_000);
    for (const { status, headers, body } of answered) {
      expect([status, body.errors[0].extensions.code]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
      expect(Number(headers.get('retry-after'))).to.be.greaterThan(0);
    }
  });

  it('signs in a user of another address while one address has its places', async () => {
    const { email, password } = service.admin;
    expect((await login('203.0.113.9', { email, password })).status).to.equal(200);
  });

  it('counts the addresses of one IPv6 /64 network as one', async () => {
    const answered = flood(Array.from({ length: 100 }, (_, at) => `2001:db8:7:7::${(at + 1).toString(16)}`));
    await until(() => answered.length >= 60, 100_000);
    expect(hashed(answered)).to.deep.equal([]);
  });

  it('answers 503 when too many attempts of one user wait, from any network', async () => {
    const answered = flood(
      Array.from({ length: 100 }, (_, at) => `100.64.${at}.1`),
      1,
    );
    await until(() => answered.length >= 60);
    for (const { status, headers } of answered)
      expect([status, Number(headers.get('retry-after')) > 0]).to.deep.equal([503, true]);
  });

  it('serves files while hashes take all worker processes', async () => {
    const file = await ground.file(service.database, 'the bytes');
    const answered = flood(Array.from({ length: 16 }, (_, at) => `192.0.2.${at + 1}`));
    for (let round = 0; round < 8; round++) {
      const { status, body } = await service.request('GET', `/assets/${file}`, { token: service.admin.token });
      expect([status, body]).to.deep.equal([200, 'the bytes']);
    }
    expect(hashed(answered)).to.deep.equal([]);
    expect(answered.length, 'answered logins').to.be.below(16);
  });
});
