import { expect } from 'chai';
import { type MailLinks, startMailLinks } from '../support/mail-links.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const TRIES = 200;
/** Requests that are under way at a time. */
const PARALLEL = 10;

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] as number;

/**
 * Medians in milliseconds of requests for known and unknown addresses, which alternate, so that other work of the machine
 * meets both.
 */
async function measure(
  send: (email: string) => Promise<unknown>,
  known: readonly string[],
  unknown: readonly string[],
) {
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  const waiting = known.flatMap((email, at) => [
    { email, kind: 'known' as const },
    { email: unknown[at] as string, kind: 'unknown' as const },
  ]);
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const started = performance.now();
      await send(next.email);
      times[next.kind].push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return { known: median(times.known), unknown: median(times.unknown) };
}

describe('the time of an answer about an account', function () {
  this.timeout(300_000);
  let mails: MailLinks;
  let service: InProcessService;
  const known = Array.from({ length: TRIES }, (_, at) => `known${at}@example.com`);
  const unknown = Array.from({ length: TRIES }, (_, at) => `other${at}@example.com`);
  before(async () => {
    mails = await startMailLinks();
    service = await startService({
      env: {
        ...mails.env,
        LOGIN_STALL_TIME: '500',
        RATE_LIMITER_REGISTRATION_ENABLED: 'false',
      },
    });
    await service.database.query(
      `insert into platform_users (id, email, status, provider, password)
      select gen_random_uuid(), email, 'active', 'default', 'x' from unnest($1::text[]) email`,
      [known],
    );
    const { token } = service.admin;
    await service.request('PATCH', '/settings', { token, body: { public_registration: true } });
  });
  after(async () => {
    await service?.stop();
    await mails?.server.stop();
  });

  async function expectEqualMedians(
    test: Mocha.Runnable | undefined,
    send: (email: string) => Promise<unknown>,
    count: number,
  ): Promise<void> {
    const times = await measure(send, known.slice(0, count), unknown.slice(0, count));
    const shown = `known ${times.known.toFixed(1)} ms, unknown ${times.unknown.toFixed(1)} ms`;
    if (test) test.title += ` (${shown})`;
    expect(Math.abs(times.known - times.unknown) / times.unknown, shown).to.be.below(0.05);
  }

  it(`medians of ${TRIES} requests for a new password differ by less than 5 %`, async function () {
    const send = async (email: string) => {
      const { status } = await service.request('POST', '/auth/password/request', { body: { email } });
      expect(status).to.equal(200);
    };
    await expectEqualMedians(this.test, send, TRIES);
    // All known addresses were mailed, so the requests were not equal for want of work.
    await until(() => mails.server.received.length >= TRIES, 120_000);
    expect(new Set(mails.server.received.flatMap(({ to }) => to))).to.deep.equal(new Set(known));
  });

  it('medians of 60 registrations differ by less than 5 %', async function () {
    const send = async (email: string) => {
      const body = { email, password: 'a password of mine' };
      const { status } = await service.request('POST', '/users/register', { body });
      expect(status).to.equal(204);
    };
    await expectEqualMedians(this.test, send, 60);
  });

  it('refusals of links take at least LOGIN_STALL_TIME', async () => {
    const refused = { token: 'x', password: 'a password of mine' };
    for (const send of [
      () => service.request('POST', '/auth/password/reset', { body: refused }),
      () => service.request('POST', '/users/invite/accept', { body: refused }),
      () => service.request('GET', '/users/register/verify-email?token=x'),
    ]) {
      const started = performance.now();
      expect((await send()).status).to.equal(403);
      // Timers may be a millisecond early.
      expect(performance.now() - started).to.be.at.least(499);
    }
  });
});
