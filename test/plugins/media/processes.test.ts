import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { truncate } from 'node:fs/promises';
import { availableParallelism, getPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import sharp from 'sharp';
import type { ImageTransformPlan } from '../../../plugins/media/contract.ts';
import { MEDIA_PROCESS_LIMITS } from '../../../plugins/media/limits.ts';
import { createForcedGarbageCollector } from '../../support/garbage-collector.ts';
import { until } from '../../support/until.ts';
import {
  createCornersImage,
  createResizeOperation,
  IMAGE_PLAN,
  type MediaFixture,
  openMediaFixture,
  readCornerColours,
} from './media-fixture.ts';
import { findMediaWorkers, isRunningProcess } from './media-workers.ts';
import { pngBomb } from './oversized-images.ts';

/** Members of a plan whose transformation takes many seconds. */
const ENDLESS: Partial<ImageTransformPlan> = { operations: [['median', 25]], timeout: 30_000 };

// These tests find the processes in /proc and are skipped on systems without it.
(existsSync('/proc/self/status') ? describe : describe.skip)('media: processes', () => {
  let noise: Buffer;
  let studio: MediaFixture;
  let large: string;
  let small: string;

  before(async () => {
    noise = await sharp(randomBytes(2000 * 2000 * 3), { raw: { width: 2000, height: 2000, channels: 3 } })
      .png({ compressionLevel: 1 })
      .toBuffer();
  });
  beforeEach(async () => {
    studio = await openMediaFixture();
    large = await studio.put('large.png', noise);
    small = await studio.put('small.png', await createCornersImage().png().toBuffer());
  });
  afterEach(async () => {
    await studio.close();
    expect(findMediaWorkers()).to.deep.equal([]);
  });

  it('processes start with the first job, at most one for each core', async () => {
    expect(findMediaWorkers()).to.deep.equal([]);
    await studio.make(small);
    expect(findMediaWorkers()).to.have.length(1);
    await studio.make(small);
    expect(findMediaWorkers()).to.have.length(1);
    await Promise.all(Array.from({ length: 12 }, () => studio.make(small)));
    expect(findMediaWorkers()).to.have.length(
      Math.max(1, Math.min(MEDIA_PROCESS_LIMITS.count, availableParallelism())),
    );
  });

  it('fifty concurrent jobs are all done', async () => {
    const jobs = Array.from({ length: 50 }, (_, at) =>
      studio.make(small, { format: 'jpeg', operations: [createResizeOperation(20 + at)] }),
    );
    expect(studio.media.pending).to.equal(50);
    const results = await Promise.all(jobs);
    expect(results.map(({ width }) => width)).to.deep.equal(Array.from({ length: 50 }, (_, at) => 20 + at));
    expect(studio.media.pending).to.equal(0);
  });

  it('jobs are done in the order of their requests', async () => {
    const lonely = await openMediaFixture({ count: 1 });
    const order: number[] = [];
    try {
      await Promise.all(Array.from({ length: 20 }, (_, at) => lonely.make(small).then(() => order.push(at))));
      expect(findMediaWorkers()).to.have.length(1);
    } finally {
      await lonely.close();
    }
    expect(order).to.deep.equal([...order].sort((one, other) => one - other));
  });

  it('an inspection does not wait for slow transformations', async () => {
    const slow = Array.from({ length: 12 }, () => studio.refusal(large, ENDLESS).catch(() => null));
    for (let time = 0; time < 3; time++) expect(await studio.media.inspect(small)).to.include({ type: 'image/png' });
    expect(studio.media.pending, 'before the first of those is over').to.equal(slow.length);
    await studio.pool.stop();
    await Promise.all(slow);
  });

  it('a process is killed with a job over its timeout, and the next job succeeds', async () => {
    await studio.make(small);
    const [first] = findMediaWorkers();
    const started = performance.now();
    const error = await studio.refusal(large, { ...ENDLESS, timeout: 300 });
    expect(error).to.include({ reason: 'timeout' });
    expect(performance.now() - started).to.be.at.least(290);
    expect(findMediaWorkers()).not.to.include(first);
    expect(await readCornerColours((await studio.make(small)).path)).to.deep.equal(['red', 'green', 'blue', 'white']);
  });

  it('a process whose job hangs is killed after the timeout', async () => {
    const pipe = studio.place('pipe');
    execFileSync('mkfifo', [pipe]);
    expect(await studio.refusal(pipe, { timeout: 200 })).to.include({ reason: 'timeout' });
    expect(await studio.make(small)).to.include({ width: 40 });
  });

  it('the timeout of a job does not include its time in the queue', async () => {
    const lonely = await openMediaFixture({ count: 1 });
    try {
      // Twelve seconds in the queue are more than the job has; ten are enough for it on a busy machine.
      const waiting = Array.from({ length: 4 }, () =>
        lonely.refusal(large, { ...ENDLESS, timeout: 3000 }).catch(() => null),
      );
      // The outcome of `waiting` is not asserted: files of the other jobs can make the check in `refusal` fail.
      const last = lonely.make(small, { timeout: 10_000 });
      expect(await last).to.include({ width: 40 });
      await Promise.all(waiting);
    } finally {
      await lonely.close();
    }
  });

  it('a killed process fails its own job only and is replaced', async () => {
    await studio.make(small);
    const failing = studio.refusal(large, ENDLESS);
    await wait(300);
    for (const pid of findMediaWorkers()) process.kill(pid, 'SIGKILL');
    expect(await failing).to.include({ reason: 'broken' });
    expect(await studio.make(small)).to.include({ width: 40 });
  });

  it('a process killed while idle is replaced', async () => {
    await studio.make(small);
    const [pid = 0] = findMediaWorkers();
    process.kill(pid, 'SIGKILL');
    expect(await studio.make(small)).to.include({ width: 40 });
  });

  it('an inspection whose process dies resolves with the notes so far', async () => {
    const waiting = studio.media.inspect(small);
    await until(() => findMediaWorkers().length > 0);
    for (const pid of findMediaWorkers()) process.kill(pid, 'SIGKILL');
    expect(await waiting).to.be.an('object');
    expect(await studio.media.inspect(small)).to.include({ type: 'image/png', width: 40 });
  });

  it('the pool keeps no reference to requests of finished jobs', async () => {
    const collect = createForcedGarbageCollector();
    const requests = new AsyncLocalStorage<object>();
    const held: WeakRef<object>[] = [];
    const ask = async () => {
      const request = { of: 'a request' };
      held.push(new WeakRef(request));
      await requests.run(request, () => studio.media.inspect(small));
    };
    for (let count = 0; count < 20; count++) await ask();
    expect(findMediaWorkers()).to.have.length(1);
    const left = () => held.filter((one) => one.deref() !== undefined).length;
    // Two may still be held: by the process, which the first request started, and by a timer that has not fired yet.
    await until(() => {
      collect();
      return left() <= 2;
    });
  });

  it('idle processes end, and no job is lost', async () => {
    const hasty = await openMediaFixture({ idle: 200 });
    try {
      await hasty.make(small);
      await until(() => findMediaWorkers().length === 0);
      for (let time = 0; time < 5; time++) {
        await wait(190 + time * 4);
        expect(await hasty.make(small)).to.include({ width: 40 });
      }
    } finally {
      await hasty.close();
    }
  });

  it('processes end with the pool, and all its jobs fail as broken', async () => {
    const running = Array.from({ length: 6 }, () =>
      studio.media.transform(large, studio.fresh(), { ...IMAGE_PLAN, ...ENDLESS }).catch((error) => error.reason),
    );
    await until(() => findMediaWorkers().length > 0);
    await studio.pool.stop();
    expect(findMediaWorkers()).to.deep.equal([]);
    expect(await Promise.all(running)).to.deep.equal(Array(6).fill('broken'));
    expect((await studio.files()).sort()).to.deep.equal(['large.png', 'small.png']);
    expect(await studio.refusal(small)).to.include({ reason: 'broken' });
    expect(await studio.media.inspect(small)).to.deep.equal({});
  });

  it('processes have a bare environment, no debugger, and limits on memory and CPU time', async () => {
    process.env.TENON_TEST_SECRET = 'known to the service alone';
    try {
      await studio.make(small);
    } finally {
      delete process.env.TENON_TEST_SECRET;
    }
    for (const pid of findMediaWorkers()) {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .map((one) => one.split('=')[0]);
      expect(
        environment.filter(
          (name) =>
            !/^(?:TZ|MALLOC_ARENA_MAX|VIPS_DISC_THRESHOLD|NODE_CHANNEL_\w+|PWD|OLDPWD|SHLVL|_|)$/.test(name ?? ''),
        ),
      ).to.deep.equal([]);
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
        .to.contain('--permission')
        .and.not.to.contain('inspect');
      const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
      expect(limits).to.match(new RegExp(`^Max data size +${MEDIA_PROCESS_LIMITS.data * 1024 ** 2} `, 'm'));
      expect(limits)
        .to.match(new RegExp(`^Max cpu time +${MEDIA_PROCESS_LIMITS.processor} `, 'm'))
        .and.match(/^Max core file size +0 /m);
      expect(Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'))).to.be.at.least(700);
      expect(getPriority(Number(pid)), 'all others go first').to.be.at.least(MEDIA_PROCESS_LIMITS.niceness);
    }
  });

  it('a job over the memory limit fails, and the next job succeeds', async function () {
    this.timeout(120_000);
    const bomb = await studio.put('bomb.png', pngBomb(30_000));
    // To rotate it, the process decodes the whole image into memory: 900 million pixels of three bytes.
    const plan = {
      maxSource: 40_000,
      maxResult: 40_000,
      operations: [['rotate', 90]],
      timeout: 60_000,
      format: 'tiff',
    } as const;
    const error = await studio.refusal(bomb, plan as never);
    expect(error.reason).to.be.oneOf(['tooLarge', 'broken']);
    expect(await studio.make(small)).to.include({ width: 40 });
  });

  describe('processes of a service', () => {
    /** Starts a Node process with the service `media` alone, which runs `script`. `say` returns its next message. */
    async function serve(script: string): Promise<{ child: ChildProcess; say: () => Promise<unknown> }> {
      const root = new URL('../../../', import.meta.url);
      const file = studio.place('service.mts');
      writeFileSync(
        file,
        `const { createWorkerPool } = await import('${new URL('plugins/workers/pool.ts', root)}');
const { buildMediaWorkerPoolOptions } = await import('${new URL('plugins/media/media-pool-options.ts', root)}');
const { createMediaService } = await import('${new URL('plugins/media/service.ts', root)}');
const pool = createWorkerPool(buildMediaWorkerPoolOptions()); const media = createMediaService(pool);
const [small, large, folder] = process.argv.slice(2);
const plan = ${JSON.stringify({ ...IMAGE_PLAN, ...ENDLESS })};
${script}`,
      );
      const child = fork(file, [small, large, studio.place('')], {
        cwd: fileURLToPath(root),
        execArgv: [],
        serialization: 'json',
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const messages: unknown[] = [];
      child.on('message', (message) => messages.push(message));
      return {
        child,
        async say() {
          await until(() => messages.length > 0, 90_000);
          return messages.shift();
        },
      };
    }

    it('processes end when the service is killed, also in the middle of a job', async () => {
      for (const script of [
        `await media.inspect(small); process.send('ready'); setInterval(() => {}, 1000);`,
        `media.transform(large, folder + '/killed', plan); setTimeout(() => process.send('ready'), 500);`,
      ]) {
        const { child, say } = await serve(script);
        await say();
        const started = findMediaWorkers(child.pid);
        expect(started).to.have.length(1);
        child.kill('SIGKILL');
        await until(() => started.every((pid) => !isRunningProcess(pid)), 15_000);
      }
    });

    it('idle processes do not keep the service running', async () => {
      const { child } = await serve(`await media.inspect(small); process.disconnect();`);
      const [code] = await once(child, 'exit');
      expect(code).to.equal(0);
    });

    it('the service loads no decoder and needs no memory for files of 2 GiB', async () => {
      await truncate(small, 2 * 1024 ** 3);
      const { child, say } = await serve(`
const before = process.memoryUsage.rss();
for (let time = 0; time < 5; time++) await media.inspect(small);
await Promise.all([1, 2, 3].map((one) => media.transform(large, folder + '/clean' + one, { ...plan, operations: [['resize', 100]] })));
const loaded = readdirLoaded();
process.send({ grown: process.memoryUsage.rss() - before, rss: process.memoryUsage.rss(), loaded });
function readdirLoaded() { return process.getBuiltinModule('fs').readFileSync('/proc/self/maps', 'utf8').split('\\n').filter((line) => /vips|sharp/.test(line)); }
await pool.stop(); process.disconnect();`);
      const gone = once(child, 'exit');
      const { grown, rss, loaded } = (await say()) as { grown: number; rss: number; loaded: string[] };
      await gone;
      expect(loaded).to.deep.equal([]);
      expect(grown).to.be.lessThan(30 * 1024 ** 2);
      expect(rss).to.be.lessThan(150 * 1024 ** 2);
    });
  });
});
