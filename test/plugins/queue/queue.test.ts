import { once } from 'node:events';
import { expect } from 'chai';
import type { QueuedJob } from '../../../plugins/queue/contract.ts';
import { JobPostponement, PermanentJobError } from '../../../plugins/queue/library.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { type QueueTestService, startQueueService, type TestJobData } from './queue-service.ts';

type Run = (job: QueuedJob<TestJobData>) => Promise<unknown>;

describe('a queue of jobs', () => {
  let place: QueueTestService;
  let run: Run = async () => undefined;
  before(async () => {
    place = await startQueueService({ retries: 2, run: (job) => run(job) });
  });
  beforeEach(() => {
    run = async () => undefined;
    place.runs.length = 0;
    place.log.length = 0;
  });
  after(() => place?.stop());

  const admin = (method: 'GET' | 'POST', path: string) =>
    place.service.request(method, path, { token: place.service.admin.token });
  const job = async (id: string | null) => (await admin('GET', `/queues/numbers/jobs/${id}`)).body?.data;
  const jobIn = (id: string | null, state: string) =>
    until(async () => {
      const found = await job(id);
      return found?.state === state ? found : undefined;
    });

  it('runs a job with its data and shows its result', async () => {
    run = async ({ data }) => ({ double: (data.number as number) * 2 });
    const id = await place.queue.add({ number: 21 });
    const done = await jobIn(id, 'completed');
    expect(done.result).to.deep.equal({ double: 42 });
    expect([done.attempts, done.error, done.queue]).to.deep.equal([1, null, 'numbers']);
    expect(place.runs.map(({ data, attempt }) => [data, attempt])).to.deep.equal([[{ number: 21 }, 1]]);
  });

  it('has no job from a unit of work that was rolled back, and those of one that committed', async () => {
    await captureError(
      place.db.transaction(async () => {
        await place.queue.add({ number: 1 });
        throw new Error('on purpose');
      }),
    );
    const id = await place.db.transaction(async () => {
      const added = await place.queue.add({ number: 2 });
      expect((await admin('GET', `/queues/numbers/jobs/${added}`)).status).to.equal(403);
      return added;
    });
    await jobIn(id, 'completed');
    expect(place.runs.map(({ data }) => data.number)).to.deep.equal([2]);
  });

  it('runs a job again that failed, and makes it a dead letter after its last retry, which an admin retries', async () => {
    run = async ({ attempt }) => {
      if (attempt <= 3) throw new Error(`failure ${attempt}`);
    };
    const id = await place.queue.add({});
    const dead = await jobIn(id, 'failed');
    expect([dead.attempts, dead.error]).to.deep.equal([3, 'failure 3']);
    expect(place.log.map(({ level }) => level)).to.deep.equal(['warn', 'warn', 'error']);
    const listed = await admin('GET', '/queues/numbers/jobs?state=failed');
    expect(listed.body.data.map((one: { id: string }) => one.id)).to.deep.equal([id]);
    expect((await admin('POST', `/queues/numbers/jobs/${id}/retry`)).status).to.equal(204);
    await jobIn(id, 'completed');
    expect(place.runs).to.have.length(4);
  });

  it('makes a job a dead letter at once where its run throws PermanentJobError, and retries all dead letters together', async () => {
    run = async () => {
      throw new PermanentJobError('never');
    };
    const ids = [await place.queue.add({ number: 1 }), await place.queue.add({ number: 2 })];
    for (const id of ids) expect((await jobIn(id, 'failed')).attempts).to.equal(1);
    run = async () => undefined;
    const reply = await admin('POST', '/queues/numbers/retry');
    expect([reply.status, reply.body]).to.deep.equal([200, { data: { retried: 2 } }]);
    for (const id of ids) await jobIn(id, 'completed');
  });

  it('runs jobs of a higher priority first', async () => {
    const gate = Promise.withResolvers<void>();
    run = ({ data }) => (data.name === 'first' ? gate.promise : Promise.resolve());
    const first = await place.queue.add({ name: 'first' });
    await jobIn(first, 'running');
    const low = await place.queue.add({ name: 'low' });
    await place.queue.add({ name: 'high' }, { priority: 5 });
    gate.resolve();
    await jobIn(low, 'completed');
    expect(place.runs.map(({ data }) => data.name)).to.deep.equal(['first', 'high', 'low']);
  });

  it('adds no second job with the key of one that waits, and one with the key of a job that has begun', async () => {
    const gate = Promise.withResolvers<void>();
    run = () => gate.promise;
    const first = await place.queue.add({}, { key: 'a' });
    await jobIn(first, 'running');
    const second = await place.queue.add({}, { key: 'a' });
    expect(second).to.be.a('string');
    expect(await place.queue.add({}, { key: 'a' })).to.equal(null);
    expect(await place.queue.add({}, { key: 'b' })).to.be.a('string');
    gate.resolve();
    await jobIn(second, 'completed');
    await until(() => place.runs.length === 3);
  });

  it('runs a job not before its start, and soon after it', async () => {
    const startAfter = new Date(Date.now() + 1500);
    const began = Promise.withResolvers<number>();
    run = async () => began.resolve(Date.now());
    const id = await place.queue.add({}, { startAfter });
    expect((await job(id)).state).to.equal('waiting');
    expect(await began.promise).to.be.at.least(startAfter.getTime() - 50);
    await jobIn(id, 'completed');
  });

  it('runs a postponed job again at its time, under the same id and without a retry', async () => {
    const until = new Date(Date.now() + 2500);
    run = async () => {
      if (place.runs.length === 1) throw new JobPostponement(new Date());
      if (place.runs.length === 2) throw new JobPostponement(until);
      return { at: Date.now() };
    };
    const id = await place.queue.add({ number: 1 });
    await jobIn(id, 'waiting');
    const done = await jobIn(id, 'completed');
    expect(done.result.at).to.be.at.least(until.getTime());
    expect(place.runs.map((one) => [one.id, one.attempt])).to.deep.equal([1, 2, 3].map(() => [id, 1]));
    expect(place.log).to.deep.equal([]);
  });

  it('runs a job with the retries of its own', async () => {
    run = () => Promise.reject(new Error('on purpose'));
    const id = await place.queue.add({ number: 1 }, { retries: 0 });
    expect((await jobIn(id, 'failed')).attempts).to.equal(1);
    run = async () => undefined;
    await admin('POST', `/queues/numbers/jobs/${id}/retry`);
    await jobIn(id, 'completed');
  });

  it('counts the jobs of a group that have not ended, up to a limit', async () => {
    const end = Promise.withResolvers<void>();
    run = () => end.promise;
    const later = new Date(Date.now() + 3_600_000);
    await place.queue.add({ number: 1 }, { group: 'a' });
    await until(() => place.runs.length === 1);
    const waiting = [];
    for (const group of ['a', 'a', 'b']) waiting.push(await place.queue.add({}, { group, startAfter: later }));
    expect(await place.queue.countUnfinished(10, 'a')).to.equal(3);
    expect((await job(waiting[2] as string)).group).to.equal('b');
    expect(await place.queue.countUnfinished(10, 'c')).to.equal(0);
    expect(await place.queue.countUnfinished(10)).to.equal(4);
    expect(await place.queue.countUnfinished(2)).to.equal(2);
    end.resolve();
    for (const id of waiting) await place.queue.cancel(id as string);
    await until(async () => (await place.queue.countUnfinished(10)) === 0);
  });

  it('cancels a job that waits, and aborts the signal of one that runs', async () => {
    const aborted = Promise.withResolvers<void>();
    run = async ({ data, signal }) => {
      if (data.name !== 'runs') return;
      await once(signal, 'abort');
      aborted.resolve();
    };
    const running = await place.queue.add({ name: 'runs' });
    await jobIn(running, 'running');
    const waiting = await place.queue.add({ name: 'waits' });
    expect((await admin('POST', `/queues/numbers/jobs/${waiting}/cancel`)).status).to.equal(204);
    expect(await place.queue.cancel(running as string)).to.equal(true);
    await aborted.promise;
    expect([(await job(running)).state, (await job(waiting)).state]).to.deep.equal(['cancelled', 'cancelled']);
    expect(await place.queue.cancel(running as string)).to.equal(false);
    const late = await admin('POST', `/queues/numbers/jobs/${running}/cancel`);
    expect([late.status, late.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect(place.runs.map(({ data }) => data.name)).to.deep.equal(['runs']);
  });

  it('shows the progress of a running job', async () => {
    const gate = Promise.withResolvers<void>();
    run = async ({ progress }) => {
      progress(0.1);
      progress(0.25, 'a quarter');
      await gate.promise;
    };
    const id = await place.queue.add({});
    const { progress } = await until(async () => {
      const found = await job(id);
      return found?.progress?.text ? found : undefined;
    });
    expect([progress.share, progress.text]).to.deep.equal([0.25, 'a quarter']);
    gate.resolve();
    await jobIn(id, 'completed');
  });

  it('fails a job whose run exceeds its result size, and refuses data of more than 1 MB', async () => {
    run = async () => 'x'.repeat(70_000);
    const id = await place.queue.add({});
    expect((await jobIn(id, 'failed')).error).to.match(/70002 characters/);
    const error = await captureError(place.queue.add({ text: 'x'.repeat(1_100_000) }));
    expect(error.code).to.equal('INVALID_PAYLOAD');
  });

  it('counts jobs by state, and names the owner of the queue', async () => {
    const reply = await admin('GET', '/queues');
    const [numbers] = reply.body.data.filter((one: { queue: string }) => one.queue === 'numbers');
    expect(numbers.owner).to.equal('number-cruncher');
    expect([numbers.waiting, numbers.running, numbers.failed]).to.deep.equal([0, 0, 1]);
    expect(numbers.completed).to.be.above(5);
  });

  it('refuses callers that are no admins, unknown jobs, states and limits', async () => {
    const calls = [
      ['GET', '/queues'],
      ['GET', '/queues/numbers/jobs'],
      ['POST', '/queues/numbers/retry'],
    ] as const;
    for (const [method, path] of calls) expect((await place.service.request(method, path)).status, path).to.equal(403);
    expect((await admin('GET', '/queues/numbers/jobs/1')).status).to.equal(403);
    expect((await admin('GET', '/queues/numbers/jobs/7f3c1f7e-6f0e-4a58-9b8a-0d4c9f3b5a10')).status).to.equal(403);
    for (const query of ['state=lost', 'limit=0', 'limit=1001', 'limit=a', 'offset=-1']) {
      const reply = await admin('GET', `/queues/numbers/jobs?${query}`);
      expect([reply.status, reply.body.errors[0].extensions.code], query).to.deep.equal([400, 'INVALID_QUERY']);
    }
  });

  it('is denied to a plugin whose manifest does not name it, and defined once only', async () => {
    const options = { log: place.service.kernel.log, run: async () => undefined };
    const denied = await captureError(() => place.api.define({ ...options, name: 'letters' }));
    expect(denied.code).to.equal('CAPABILITY_DENIED');
    const twice = await captureError(() => place.api.define({ ...options, name: 'numbers' }));
    expect(twice.message).to.match(/is defined already, by number-cruncher/);
  });
});
