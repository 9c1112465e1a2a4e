import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { InterProcessLock } from '../../../plugins/cluster/contract.ts';
import type { ScheduledJob } from '../../../plugins/schedule/contract.ts';
import { createJobScheduler } from '../../../plugins/schedule/schedule.ts';
import { until } from '../../support/until.ts';

type ScheduleTicks = Parameters<typeof createJobScheduler>[0]['ticks'];

/** Ticks and locks in memory that the schedules of several simulated processes share. */
function openCluster(replaced: Partial<ScheduleTicks> = {}, failLock = () => {}) {
  const claimed = new Map<string, number>();
  const finished: number[] = [];
  const locked = new Set<string>();
  /** Ticks whose process has died before their run ended. */
  const abandoned: Date[] = [];
  const looks: string[] = [];
  /** Ticks in the queue, in their order. */
  const waiting = new Map<number, Date>();
  const ticks: ScheduleTicks = {
    async claim(name, tick) {
      if ((claimed.get(name) ?? 0) >= tick.getTime()) return false;
      claimed.set(name, tick.getTime());
      return true;
    },
    async finish(_name, tick) {
      finished.push(tick.getTime());
    },
    async takeOver(_name, since) {
      const taken = abandoned.filter((tick) => tick > since);
      abandoned.length = 0;
      return { taken, isWatched: false };
    },
    async last(name, now) {
      looks.push(name);
      return new Date(claimed.get(name) ?? now);
    },
    async look() {
      return { isLeft: waiting.size > 0 || abandoned.length > 0, isWatched: false };
    },
    async enqueue(name, all, max) {
      const fresh = all.filter((tick) => tick.getTime() > (claimed.get(name) ?? 0));
      const free = Math.max(0, max - waiting.size);
      for (const tick of fresh.slice(0, free)) {
        waiting.set(tick.getTime(), tick);
        claimed.set(name, tick.getTime());
      }
      return { isFull: fresh.length > free };
    },
    async next(_name, since) {
      const tick = [...abandoned.splice(0).filter((one) => one > since), ...waiting.values()][0];
      if (tick) waiting.delete(tick.getTime());
      return tick && { tick, state: 'taken', isOwn: false };
    },
    async skipTo(name, tick) {
      waiting.clear();
      claimed.set(name, Math.max(claimed.get(name) ?? 0, tick.getTime()));
    },
    ...replaced,
  };
  const attempt: InterProcessLock['attempt'] = async (name, work) => {
    failLock();
    if (locked.has(name)) return undefined;
    locked.add(name);
    try {
      return { value: await work() };
    } finally {
      locked.delete(name);
    }
  };
  return {
    claimed,
    finished,
    abandoned,
    looks,
    waiting,
    ticks,
    process: () => createJobScheduler({ ticks, lock: { attempt } }),
  };
}

const nothing = () => {};
const log = { error: nothing, warn: nothing } as ScheduledJob['log'];
const EVERY = { every: 20 };

describe('schedule.start()', () => {
  it('a job runs each tick in one of all processes', async () => {
    const cluster = openCluster();
    const processes = [cluster.process(), cluster.process(), cluster.process()];
    const ticks: number[] = [];
    for (const one of processes)
      one.start({ name: 'a', at: EVERY, log, overlap: 'allow', run: ({ at }) => ticks.push(at.getTime()) });
    await until(() => ticks.length >= 5);
    for (const one of processes) one.stop();
    expect(new Set(ticks).size).to.equal(ticks.length);
    expect(ticks.filter((tick) => tick % EVERY.every !== 0)).to.deep.equal([]);
  });

  it('a job with scope "process" runs each tick in every process, without a claim', async () => {
    const cluster = openCluster();
    const processes = [cluster.process(), cluster.process()];
    const ticks = [0, 0];
    for (const [at, one] of processes.entries())
      one.start({ name: 'a', at: EVERY, scope: 'process', log, run: () => (ticks[at] = (ticks[at] ?? 0) + 1) });
    await until(() => ticks.every((count) => count >= 2));
    for (const one of processes) one.stop();
    expect(cluster.claimed.size).to.equal(0);
  });

  for (const scope of ['cluster', 'process'] as const) {
    it(`a job with scope "${scope}" skips ticks while it runs, and runs again afterwards`, async () => {
      const schedule = openCluster().process();
      const held = Promise.withResolvers<void>();
      let started = 0;
      let atOnce = 0;
      let most = 0;
      schedule.start({
        name: 'a',
        at: EVERY,
        scope,
        log,
        async run() {
          started++;
          most = Math.max(most, ++atOnce);
          if (started === 1) await held.promise;
          atOnce--;
        },
      });
      await until(() => started === 1);
      await pause(EVERY.every * 4);
      expect(started).to.equal(1);
      held.resolve();
      await until(() => started >= 3);
      schedule.stop();
      expect(most).to.equal(1);
    });
  }

  it('a job skips ticks while another process runs it, and leaves them unclaimed', async () => {
    const cluster = openCluster();
    const [one, other] = [cluster.process(), cluster.process()];
    const held = Promise.withResolvers<void>();
    const runs: string[] = [];
    const start = (process: ReturnType<typeof cluster.process>, name: string) =>
      process.start({
        name: 'a',
        at: EVERY,
        log,
        run: async () => {
          runs.push(name);
          if (runs.length === 1) await held.promise;
        },
      });
    start(one, 'one');
    await until(() => runs.length === 1);
    const claimed = cluster.claimed.get('a');
    start(other, 'other');
    await pause(EVERY.every * 4);
    expect([runs, cluster.claimed.get('a')]).to.deep.equal([['one'], claimed]);
    held.resolve();
    await until(() => runs.length >= 3);
    one.stop();
    other.stop();
  });

  it('a job with overlap "allow" runs concurrently', async () => {
    const schedule = openCluster().process();
    const held = Promise.withResolvers<void>();
    let atOnce = 0;
    schedule.start({
      name: 'a',
      at: EVERY,
      overlap: 'allow',
      log,
      run() {
        atOnce++;
        return held.promise;
      },
    });
    await until(() => atOnce >= 2);
    held.resolve();
    schedule.stop();
  });

  it('a job that fails is logged for its owner and runs again', async () => {
    const lines: unknown[][] = [];
    const schedule = openCluster().process();
    const error = new Error('no');
    schedule.start({
      name: 'a',
      at: EVERY,
      log: { ...log, error: ((...line: unknown[]) => void lines.push(line)) as ScheduledJob['log']['error'] },
      run() {
        throw error;
      },
    });
    await until(() => lines.length >= 2);
    schedule.stop();
    expect(lines[0]).to.deep.equal([{ err: error, schedule: 'a' }, 'a scheduled job failed']);
  });

  describe('while the database is away', () => {
    /** An interval that the tests do not wait for twice. */
    const SECONDS = { every: 2000 };
    /** A cluster without a database for the first `count` claims of ticks, counted over all processes. */
    function openFailingCluster(count: number, overlap: ScheduledJob['overlap']) {
      const failed: number[] = [];
      const fail = (at = new Date(Math.floor(Date.now() / SECONDS.every) * SECONDS.every)) => {
        if (failed.length >= count) return;
        failed.push(at.getTime());
        throw new Error('connection lost');
      };
      const { ticks } = openCluster();
      const replaced: ScheduleTicks = {
        ...ticks,
        async enqueue(name, all, max) {
          if (overlap === 'queue') fail(all[0]);
          return ticks.enqueue(name, all, max);
        },
        async claim(name, tick) {
          if (overlap === 'allow') fail(tick);
          return ticks.claim(name, tick);
        },
      };
      return { failed, ...openCluster(replaced, () => overlap === 'skip' && fail()) };
    }

    for (const overlap of ['skip', 'allow', 'queue'] as const)
      it(`a tick of a job with overlap "${overlap}" that could not be taken is tried again, and runs once over all processes`, async () => {
        const cluster = openFailingCluster(4, overlap);
        const processes = [cluster.process(), cluster.process()];
        const ticks: number[] = [];
        for (const one of processes)
          one.start({ name: 'a', at: SECONDS, overlap, log, run: ({ at }) => ticks.push(at.getTime()) });
        await until(() => ticks.length > 0);
        await pause(400);
        for (const one of processes) one.stop();
        expect(cluster.failed).to.have.length(4);
        expect(ticks).to.deep.equal([cluster.failed[0]]);
      });

    it('a tick is given up when the next one is due, which is taken then', async () => {
      const cluster = openFailingCluster(3, 'allow');
      const schedule = cluster.process();
      const ticks: number[] = [];
      schedule.start({ name: 'a', at: EVERY, overlap: 'allow', log, run: ({ at }) => ticks.push(at.getTime()) });
      await until(() => ticks.length > 0);
      schedule.stop();
      expect(new Set(cluster.failed).size).to.equal(3);
      expect(cluster.failed).to.not.include(ticks[0]);
    });

    it('a job with overlap "queue" runs all ticks later', async () => {
      const cluster = openFailingCluster(3, 'queue');
      const schedule = cluster.process();
      const ticks: number[] = [];
      schedule.start({ name: 'a', at: EVERY, overlap: 'queue', log, run: ({ at }) => ticks.push(at.getTime()) });
      await until(() => ticks.length > 5);
      schedule.stop();
      expect(ticks[0]).to.equal(cluster.failed[0]);
      expect(ticks.every((tick, at) => at === 0 || tick > (ticks[at - 1] as number))).to.equal(true);
    });

    it('stop() ends the attempts at once', async () => {
      const cluster = openFailingCluster(Number.POSITIVE_INFINITY, 'allow');
      const job = cluster.process().start({ name: 'a', at: SECONDS, overlap: 'allow', log, run: nothing });
      await until(() => cluster.failed.length > 2);
      await job.stop();
      const { length } = cluster.failed;
      await pause(900);
      expect(cluster.failed).to.have.length(length);
    });

    it('a run whose end could not be recorded is not repeated', async () => {
      let failures = 0;
      const cluster = openCluster({
        async finish() {
          failures++;
          throw new Error('connection lost');
        },
      });
      const schedule = cluster.process();
      const ticks: number[] = [];
      schedule.start({ name: 'a', at: EVERY, log, run: ({ at }) => ticks.push(at.getTime()) });
      await until(() => failures >= 3);
      schedule.stop();
      expect(new Set(ticks).size).to.equal(ticks.length);
    });
  });

  it('stop() begins no further run, aborts the signal of a run and waits for its end', async () => {
    const schedule = openCluster().process();
    let runs = 0;
    let hasEnded = false;
    const job = schedule.start({
      name: 'a',
      at: EVERY,
      log,
      async run({ signal }) {
        runs++;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await pause(5);
        hasEnded = true;
      },
    });
    await until(() => runs === 1);
    await job.stop();
    expect(hasEnded).to.equal(true);
    await pause(EVERY.every * 3);
    expect(runs).to.equal(1);
  });

  it('a job name is taken until stop()', async () => {
    const schedule = openCluster().process();
    const job = { name: 'a', at: '0 0 1 1 *', log, run: nothing };
    const started = schedule.start(job);
    expect(() => schedule.start(job)).to.throw(RangeError, '"a"');
    await started.stop();
    schedule.start(job);
    schedule.stop();
    schedule.start(job);
    schedule.stop();
  });

  it('a job with an invalid cron expression or interval throws a RangeError', () => {
    const schedule = openCluster().process();
    for (const at of ['', 'daily', '* * *', '61 * * * *', '* * * * * * *']) {
      expect(schedule.isPattern(at), at).to.equal(false);
      expect(() => schedule.start({ name: 'a', at, log, run: nothing })).to.throw(RangeError, 'cron');
    }
    for (const every of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => schedule.start({ name: 'a', at: { every }, log, run: nothing })).to.throw(RangeError, 'interval');
    expect(['* * * * *', '0 3 * * 1', ' */5 * * * * * '].map(schedule.isPattern)).to.deep.equal([true, true, true]);
  });

  it('a job with missed: "once" runs the last of the ticks that came while no process was up, and no tick that was run', async () => {
    const cluster = openCluster();
    const hour = 3_600_000;
    const last = Math.floor(Date.now() / hour) * hour;
    for (const [lastTick, expected] of [
      [last - 5 * hour, [last]],
      [last, []],
    ] as const) {
      cluster.claimed.set('a', lastTick);
      const schedule = cluster.process();
      const ticks: number[] = [];
      schedule.start({
        name: 'a',
        at: { every: hour },
        missed: 'once',
        log,
        run: ({ at }) => ticks.push(at.getTime()),
      });
      schedule.start({ name: 'b', at: { every: hour }, log, run: () => ticks.push(0) });
      await until(() => cluster.looks.length > 0 && ticks.length >= expected.length);
      await new Promise(setImmediate);
      schedule.stop();
      expect([ticks, cluster.looks.splice(0)]).to.deep.equal([expected, ['a']]);
    }
  });

  it('a job with missed: "all" runs each missed tick once over all processes, in their order, at most a thousand', async () => {
    const hour = 3_600_000;
    const last = Math.floor(Date.now() / hour) * hour;
    for (const [missed, expected] of [
      [3, 3],
      [0, 0],
      [1500, 1000],
    ] as const) {
      const cluster = openCluster();
      cluster.claimed.set('a', last - missed * hour);
      const processes = [cluster.process(), cluster.process()];
      const ticks: number[] = [];
      let atOnce = 0;
      for (const one of processes)
        one.start({
          name: 'a',
          at: { every: hour },
          missed: 'all',
          log,
          async run({ at }) {
            expect(++atOnce).to.equal(1);
            ticks.push(at.getTime());
            await new Promise(setImmediate);
            atOnce--;
          },
        });
      await until(() => ticks.length >= expected && cluster.looks.length === 2);
      await pause(20);
      for (const one of processes) one.stop();
      expect(ticks).to.deep.equal(Array.from({ length: expected }, (_, at) => last - (expected - 1 - at) * hour));
    }
  });

  it('a job with missedSince: "now" has missed nothing', async () => {
    const cluster = openCluster();
    const hour = 3_600_000;
    const last = Math.floor(Date.now() / hour) * hour;
    cluster.claimed.set('a', last - 5 * hour);
    const schedule = cluster.process();
    const ticks: number[] = [];
    const run = ({ at }: { at: Date }) => ticks.push(at.getTime());
    schedule.start({ name: 'a', at: { every: hour }, missed: 'all', missedSince: 'now', log, run });
    await until(() => cluster.claimed.get('a') === last);
    await new Promise(setImmediate);
    schedule.stop();
    expect(ticks).to.deep.equal([]);
  });

  it('a job with overlap "queue" runs ticks in their order and never two at once, over all processes', async () => {
    const cluster = openCluster();
    const processes = [cluster.process(), cluster.process()];
    const held = Promise.withResolvers<void>();
    const ticks: number[] = [];
    let atOnce = 0;
    let most = 0;
    for (const one of processes)
      one.start({
        name: 'a',
        at: EVERY,
        overlap: 'queue',
        log,
        async run({ at }) {
          most = Math.max(most, ++atOnce);
          ticks.push(at.getTime());
          await held.promise;
          atOnce--;
        },
      });
    await until(() => cluster.waiting.size >= 4);
    expect(ticks).to.have.length(1);
    const waited = [...cluster.waiting.keys()];
    held.resolve();
    await until(() => ticks.length > waited.length);
    for (const one of processes) one.stop();
    expect(most).to.equal(1);
    expect(ticks.slice(1, waited.length + 1)).to.deep.equal(waited);
  });

  it('a job runs a tick of a process that died, and finishes it', async () => {
    const cluster = openCluster();
    // Another process has claimed all ticks to come.
    cluster.claimed.set('a', Number.POSITIVE_INFINITY);
    const schedule = cluster.process();
    const ticks: number[] = [];
    schedule.start({ name: 'a', at: EVERY, log, run: ({ at }) => ticks.push(at.getTime()) });
    const tick = new Date(Date.now() + 60_000);
    cluster.abandoned.push(tick);
    await until(() => cluster.finished.includes(tick.getTime()));
    schedule.stop();
    expect(ticks).to.deep.equal([tick.getTime()]);
  });

  it('a job looks again for ticks of dead processes where it lost a tick during a look, which may have been too early', async () => {
    const gate = Promise.withResolvers<void>();
    const tick = new Date();
    let looks = 0;
    let losses = 0;
    const cluster = openCluster({
      async claim() {
        losses++;
        return false;
      },
      async takeOver() {
        looks++;
        if (looks > 1) return { taken: [tick], isWatched: false };
        await gate.promise;
        return { taken: [], isWatched: false };
      },
    });
    const schedule = cluster.process();
    const ticks: Date[] = [];
    const job = schedule.start({ name: 'a', at: EVERY, overlap: 'allow', log, run: ({ at }) => ticks.push(at) });
    await until(() => looks === 1);
    const before = losses;
    await until(() => losses > before);
    gate.resolve();
    await until(() => ticks.length > 0);
    await job.stop();
    expect(ticks[0]).to.deep.equal(tick);
  });
});
