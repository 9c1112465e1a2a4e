import { expect } from 'chai';
import { killStartedRunnerProcesses, UnconfinedRunnerProcess } from './runner-process.ts';

const load = (body: string, before = '', reuse = false): Promise<UnconfinedRunnerProcess> =>
  UnconfinedRunnerProcess.load(`${before}; module.exports = { async handler(input, { host }) { ${body} } };`, {
    reuse,
  });

describe('runner: timers', () => {
  after(killStartedRunnerProcesses);

  it('timeouts and intervals fire in order with their arguments, and cleared ones do not fire', async () => {
    const runner = await load(`const seen = [];
      return new Promise((resolve) => {
        setTimeout((...args) => seen.push('late', ...args), 40, 1, 2);
        setTimeout(() => seen.push('early'), '5');
        const never = setTimeout(() => seen.push('never'), 10);
        clearTimeout(never); clearTimeout(never); clearTimeout(); clearTimeout('x'); clearInterval({});
        setTimeout(() => { throw new Error('ignored'); });
        let count = 0;
        const interval = setInterval(() => { if (++count === 3) { clearInterval(interval); seen.push('thrice'); } }, 1);
        setTimeout(() => resolve(seen), 3000);
      });`);
    const seen = (await runner.run(1)) as unknown[];
    expect(seen.filter((word) => word !== 'thrice')).to.eql(['early', 'late', 1, 2]);
    expect(seen).to.include('thrice');
  });

  it('a realm has at most 256 timeouts and 256 intervals', async () => {
    const runner = await load(`const count = (start) => {
        let timers = 0;
        try { for (;;) { start(() => {}, 1e9); timers++; } } catch (error) { return [timers, error instanceof RangeError]; }
      };
      const all = [count(setTimeout), count(setInterval)];
      clearTimeout(1);
      return [...all, count(setTimeout)];`);
    expect(await runner.run(1)).to.eql([
      [256, true],
      [256, true],
      [1, true],
    ]);
  });

  it('timers end with their invocation, also in a shared realm', async () => {
    const runner = await load(
      `if (input === 1) { setInterval(() => { ticks++; }, 1); return 1; }
       const before = ticks; await new Promise((resolve) => setTimeout(resolve, 30)); return ticks - before;`,
      'let ticks = 0',
      true,
    );
    expect(await runner.run(1, 1)).to.equal(1);
    expect(await runner.run(2, 2)).to.equal(0);
  });

  it('timers started by the evaluation belong to the first invocation', async () => {
    const runner = await load(
      'return new Promise((resolve) => { const look = () => (ready ? resolve(ready) : setTimeout(look, 1)); look(); });',
      'let ready = 0; setTimeout(() => { ready = 1; }, 5); const no = setTimeout(() => { ready = 2; }, 1); clearTimeout(no)',
    );
    for (let id = 1; id <= 5; id++) expect(await runner.run(id)).to.equal(1);
  });
});
