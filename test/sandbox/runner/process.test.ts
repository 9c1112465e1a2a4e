import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { killStartedRunnerProcesses, RUNNER_LIMITS, UnconfinedRunnerProcess } from './runner-process.ts';

const SIMPLE = 'module.exports = { handler: () => 1 };';
const FAILED = 70;

/** Resident bytes of a process. */
const resident = (runner: UnconfinedRunnerProcess): number =>
  1024 * Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${runner.process.pid}/status`, 'utf8'))?.[1]);

describe('runner: the process', () => {
  after(killStartedRunnerProcesses);

  it('the runner ends when its channel closes', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      'module.exports = { handler: () => new Promise(() => setInterval(() => {}, 1)) };',
    );
    runner.invoke(1);
    runner.channel.destroy();
    expect(await runner.ended).to.equal(0);
  });

  it('the runner ends when the isolate exceeds its memory limit, before the time limit', async () => {
    for (const bomb of [
      'const list = []; for (;;) list.push(new Array(1000).fill(1));',
      'const list = []; for (;;) list.push(1.5);',
      'for (const text = "x".repeat(200_000);;) host.log.info(text);',
    ]) {
      const runner = await UnconfinedRunnerProcess.load(`module.exports = { handler(input, { host }) { ${bomb} } };`, {
        limits: { cpu: 50_000, memory: 24 * 2 ** 20, hostCall: 2 ** 20 },
      });
      runner.invoke(1);
      expect(await Promise.race([runner.ended, runner.outcome(1).catch(() => runner.ended)]), bomb).to.be.oneOf([
        FAILED,
        null,
      ]);
    }
  }).timeout(120_000);

  it('the runner ends on a message that is malformed or out of order', async () => {
    const nonsense: ((runner: UnconfinedRunnerProcess) => void)[] = [
      (runner) => runner.channel.write(Buffer.alloc(16, 255)),
      (runner) => runner.send({ type: 'unheard-of' } as never),
      (runner) => runner.load(`(function (module) { ${SIMPLE} })`),
      (runner) => runner.send({ type: 'prepare', limits: RUNNER_LIMITS }),
    ];
    for (const say of nonsense) {
      const runner = await UnconfinedRunnerProcess.load(SIMPLE);
      say(runner);
      expect(await runner.ended).to.equal(FAILED);
    }
  });

  it('the runner ends when it is loaded before it is prepared', async () => {
    const runner = await UnconfinedRunnerProcess.start();
    runner.send({ type: 'load', reuse: false }, `(function (module) { ${SIMPLE} })`);
    expect(await runner.ended).to.equal(FAILED);
  });

  it('the runner answers an invocation without a loaded artifact with guest-error', async () => {
    const runner = await UnconfinedRunnerProcess.start();
    expect(await runner.run(1)).to.equal('guest-error');
    runner.load('5');
    await runner.next('refused');
    expect(await runner.run(2)).to.equal('guest-error');
  });

  // Skipped on other systems, since the memory of the process is read from /proc.
  const onLinux = process.platform === 'linux' ? it : () => {};

  onLinux('the runner does not grow with the number of invocations', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      `const ballast = new Array(3000).fill('x'); module.exports = { async handler(input, { host }) {
        setTimeout(() => {}, 1e6); await host.settings.get('k'); return ballast.length;
      } };`,
      { limits: { memory: 32 * 2 ** 20 } },
    );
    let id = 0;
    const many = async (count: number): Promise<void> => {
      for (let round = 0; round < count / 50; round++) {
        const first = id + 1;
        for (let n = 0; n < 50; n++) runner.invoke(++id);
        for (let n = 0; n < 50; n++) {
          const call = await runner.next('call');
          runner.reply(call.id, call.call, null);
        }
        for (let n = first; n <= id; n++) expect(await runner.outcome(n)).to.equal(3000);
      }
    };
    await many(1000);
    const before = resident(runner);
    await many(2000);
    expect(resident(runner) - before).to.be.below(RUNNER_LIMITS.memory / 2);
  });

  onLinux('the runner keeps few threads for many invocations with little time left', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      `module.exports = { async handler(input) {
        const end = Date.now() + input; while (Date.now() < end); await new Promise((resolve) => setTimeout(resolve, 300));
        return 1;
      } };`,
      { limits: { cpu: 1000 } },
    );
    for (let id = 1; id <= 20; id++) runner.invoke(id, 5 * id);
    for (let id = 1; id <= 20; id++) expect(await runner.outcome(id)).to.equal(1);
    const threads = Number(/Threads:\s*(\d+)/.exec(readFileSync(`/proc/${runner.process.pid}/status`, 'utf8'))?.[1]);
    expect(threads).to.be.below(16);
  });
});
