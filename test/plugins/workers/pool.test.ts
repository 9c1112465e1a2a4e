import { expect } from 'chai';
import type {
  WorkerJobOptions,
  WorkerJobOutcome,
  WorkerPool,
  WorkerPoolOptions,
} from '../../../plugins/workers/contract.ts';
import { createWorkerPoolService } from '../../../plugins/workers/workers.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';

const OPTIONS: WorkerPoolOptions = {
  program: new URL('./worker-program.ts', import.meta.url),
  processes: 1,
  startTimeout: 20_000,
  idleTimeout: 60_000,
};
const PATIENT: WorkerJobOptions = { timeout: 20_000 };

interface Reply {
  readonly pid: number;
  readonly environment: readonly string[];
  readonly args: readonly string[];
  readonly value: unknown;
}
const replyOf = (outcome: WorkerJobOutcome): Reply => {
  if (typeof outcome === 'string') throw new Error(`the job ended with ${outcome}`);
  return outcome.reply as Reply;
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('workers.pool()', () => {
  const workers = createWorkerPoolService();
  const open = (options: Partial<WorkerPoolOptions> = {}): WorkerPool => workers.pool({ ...OPTIONS, ...options });
  afterEach(() => workers.stop());

  const answer = async (pool: WorkerPool, value?: unknown, options = PATIENT) =>
    replyOf(await pool.run({ kind: 'answer', value }, options));

  it('answers what its process replies, and gives the next job to the same process', async () => {
    const pool = open({ args: ['one', 'two'] });
    const first = await answer(pool, { some: ['value'] });
    expect(first).to.deep.include({ value: { some: ['value'] }, args: ['one', 'two'] });
    expect(await answer(pool)).to.include({ pid: first.pid });
  });

  it('gives a process the environment it names and nothing of its own', async () => {
    const own = (names: readonly string[]) =>
      names.filter((name) => !/^(?:NODE_CHANNEL_\w+|PWD|OLDPWD|SHLVL|_)$/.test(name));
    expect(own((await answer(open())).environment)).to.deep.equal([]);
    expect(own((await answer(open({ environment: { TZ: 'UTC' } }))).environment)).to.deep.equal(['TZ']);
  });

  it('runs as many jobs at a time as it has processes, in the order in which they came', async () => {
    const pool = open({ processes: 2 });
    const order: number[] = [];
    const jobs = Array.from({ length: 10 }, async (_, at) => {
      const prepare = async () => void order.push(at);
      return (await answer(pool, at, { ...PATIENT, prepare })).pid;
    });
    expect(new Set(await Promise.all(jobs)).size).to.equal(2);
    expect(order).to.deep.equal([...order].sort((one, other) => one - other));
  });

  it('keeps processes free of a kind of job that has reached the limit of its lane', async () => {
    const pool = open({ processes: 2, lanes: { slow: 1 } });
    const slow = Array.from({ length: 3 }, () => pool.run({ kind: 'hang' }, { timeout: 20_000, lane: 'slow' }));
    expect(await answer(pool, 'free')).to.include({ value: 'free' });
    await pool.stop();
    expect(await Promise.all(slow)).to.deep.equal(['stopped', 'stopped', 'stopped']);
    expect(await captureError(open().run({}, { ...PATIENT, lane: 'none' }))).to.be.instanceOf(TypeError);
  });

  it('kills a process whose job is not done in time, and replaces it', async () => {
    const pool = open();
    const { pid } = await answer(pool);
    expect(await pool.run({ kind: 'hang' }, { timeout: 50 })).to.equal('timeout');
    await until(() => !isAlive(pid));
    expect((await answer(pool)).pid).not.to.equal(pid);
  });

  it('fails the one job whose process crashes', async () => {
    const pool = open();
    const { pid } = await answer(pool);
    const dying = pool.run({ kind: 'die' }, PATIENT);
    const next = answer(pool);
    expect(await dying).to.equal('crashed');
    expect((await next).pid).not.to.equal(pid);
  });

  it('gives a job to another process when its own ended before it received the job', async () => {
    const pool = open();
    const { pid } = await answer(pool);
    process.kill(pid, 'SIGKILL');
    expect((await answer(pool)).pid).not.to.equal(pid);
  });

  it('distinguishes a process that does not start from one that crashes', async () => {
    expect(await open({ args: ['dies'] }).run({}, PATIENT)).to.equal('unstarted');
    expect(await open({ args: ['never'], startTimeout: 50 }).run({}, PATIENT)).to.equal('unstarted');
  });

  it('delivers notes before the reply', async () => {
    const notes: unknown[] = [];
    await open().run({ kind: 'note', value: [1, { two: 2 }] }, { ...PATIENT, onNote: (note) => void notes.push(note) });
    expect(notes).to.deep.equal([1, { two: 2 }]);
  });

  it('rejects with what the preparation rejects with, and goes on', async () => {
    const pool = open();
    const prepare = () => Promise.reject(new Error('no'));
    expect((await captureError(pool.run({}, { ...PATIENT, prepare }))).message).to.equal('no');
    expect(await answer(pool, 1)).to.include({ value: 1 });
  });

  it('refuses a job beyond its queue', async () => {
    const pool = open({ queue: 1 });
    const [, , third] = [answer(pool), answer(pool), pool.run({ kind: 'answer' }, PATIENT)];
    expect(await third).to.equal('full');
  });

  it('ends a process without a job, and starts another for the next one', async () => {
    const pool = open({ idleTimeout: 20 });
    const { pid } = await answer(pool);
    await until(() => !isAlive(pid));
    expect((await answer(pool)).pid).not.to.equal(pid);
  });

  it('replaces a process that has worked long enough when its job is done', async () => {
    const pool = open({ replaceAfter: 5 });
    const worked = replyOf(await pool.run({ kind: 'work' }, PATIENT));
    expect((await answer(pool)).pid).not.to.equal(worked.pid);
    await until(() => !isAlive(worked.pid));
  });

  it('ends its processes, their jobs and waiting ones when it stops, by itself or with the service', async () => {
    for (const stop of [(pool: WorkerPool) => pool.stop(), () => workers.stop()]) {
      const pool = open();
      const { pid } = await answer(pool);
      const jobs = [pool.run({ kind: 'hang' }, PATIENT), pool.run({ kind: 'answer' }, PATIENT)];
      await stop(pool);
      expect(isAlive(pid)).to.equal(false);
      expect(await Promise.all(jobs)).to.deep.equal(['stopped', 'stopped']);
      expect(await pool.run({ kind: 'answer' }, PATIENT)).to.equal('stopped');
    }
  });
});
