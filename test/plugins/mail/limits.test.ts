import { expect } from 'chai';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { type RunningMail, startMail } from './start-mail.ts';

const MESSAGE = { to: 'ann@example.com', subject: 'Hello', text: 'Hello' };

describe('mail: RATE_LIMITER_EMAIL_*', function () {
  this.timeout(120_000);
  const running: RunningMail[] = [];
  afterEach(async () => {
    for (const one of running.splice(0).reverse()) await one.stop();
  });

  async function start(env: Record<string, string>, shared: Parameters<typeof startMail>[0] = {}) {
    const one = await startMail({ env: { RATE_LIMITER_EMAIL_ENABLED: 'true', ...env }, ...shared });
    running.push(one);
    return one;
  }

  it('messages over the limit wait for the next window, over all processes, and none is lost or sent twice', async () => {
    const env = { RATE_LIMITER_EMAIL_POINTS: '3', RATE_LIMITER_EMAIL_DURATION: '2' };
    const first = await start(env);
    const second = await start(env, { database: first.database, server: first.server });
    const since = performance.now();
    for (let at = 0; at < 4; at++) for (const one of [first, second]) await one.mail.send(MESSAGE);
    await until(() => first.server.received.length >= 8, 60_000);
    // Eight messages of three in each window of two seconds need the third window.
    expect(performance.now() - since).to.be.above(3500);
    const ids = first.server.received.map(({ source }) => /^Message-ID: .*$/m.exec(source)?.[0]);
    expect(new Set(ids).size).to.equal(8);
    const jobs = [...first.queues.jobs, ...second.queues.jobs];
    await until(() => jobs.every(({ state }) => state === 'completed'));
    expect(jobs.filter(({ result }) => (result as { outcome: string }).outcome !== 'accepted').length).to.equal(5);
  });

  it('a message that waited keeps the Message-ID of its first job', async () => {
    const { mail, queues, server } = await start({ RATE_LIMITER_EMAIL_POINTS: '1', RATE_LIMITER_EMAIL_DURATION: '1' });
    await mail.send(MESSAGE);
    await until(() => server.received.length === 1);
    const id = await mail.send(MESSAGE);
    await until(() => server.received.length === 2);
    expect(server.received[1]?.source).to.include(`Message-ID: <${id}@example.com>`);
    expect(queues.jobs.length).to.equal(3);
  });

  it('a retry of a message that waited waits for a window again, and has one retry less', async () => {
    const { mail, queues, server } = await start({ RATE_LIMITER_EMAIL_POINTS: '1', RATE_LIMITER_EMAIL_DURATION: '2' });
    const since = performance.now();
    await mail.send(MESSAGE);
    await until(() => server.received.length === 1);
    server.reactions.push({ code: 451, text: 'later' });
    const id = await mail.send(MESSAGE);
    await until(() => server.received.length === 2);
    // The second window is that of the refused attempt, and the third that of its retry.
    expect(performance.now() - since).to.be.above(3500);
    expect(server.received[1]?.source).to.include(`Message-ID: <${id}@example.com>`);
    await until(() => queues.jobs.every(({ state }) => state === 'completed'));
    expect(queues.jobs.flatMap(({ errors }) => errors.map(({ message }) => message))).to.deep.equal(['451 later']);
    expect(queues.jobs.slice(2).map(({ options: { retries, retryDelay } }) => ({ retries, retryDelay }))).to.deep.equal(
      [
        { retries: 15, retryDelay: 30 },
        { retries: 14, retryDelay: 60 },
      ],
    );
  });

  it('a message beyond the queue size fails its attempt and is tried again later', async () => {
    const { mail, queues, server } = await start({
      RATE_LIMITER_EMAIL_POINTS: '1',
      RATE_LIMITER_EMAIL_DURATION: '4',
      RATE_LIMITER_EMAIL_QUEUE_SIZE: '0',
    });
    const ids = [await mail.send(MESSAGE), await mail.send(MESSAGE)];
    await until(() => server.received.length === 2, 60_000);
    const errors = queues.jobs.flatMap((job) => job.errors.map(({ message }) => message));
    expect(errors[0]).to.include('more than 0 messages wait already');
    expect(queues.jobs.map(({ id }) => id)).to.include.members(ids);
  });

  it('a limit of 0 points stops the start', async () => {
    expect((await captureError(start({ RATE_LIMITER_EMAIL_POINTS: '0' }))).message).to.include('at least 1');
  });
});
