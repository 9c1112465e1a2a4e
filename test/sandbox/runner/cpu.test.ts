import { expect } from 'chai';
import { killStartedRunnerProcesses, UnconfinedRunnerProcess } from './runner-process.ts';

const limits = { cpu: 1000 };
const BURN = 'const burn = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };';

describe('runner: CPU time', () => {
  after(killStartedRunnerProcesses);

  it('an endless loop ends with timeout, and the next invocation succeeds', async () => {
    const loops = [
      'for (;;);',
      'await null; for (;;);',
      'const again = () => Promise.resolve().then(again); again(); for (;;);',
      'const again = () => Promise.resolve().then(again); return again();',
      'setTimeout(() => { for (;;); }); return new Promise(() => {});',
      'return { toJSON() { for (;;); } };',
      'return { get then() { for (;;); } };',
      'host.settings.get({ toJSON() { for (;;); } });',
      '/^(a+)+$/.test("a".repeat(40) + "b");',
      'for (;;) { try { for (;;); } catch {} finally { continue; } }',
      'Promise.reject({ get message() { const end = Date.now() + 1400; while (Date.now() < end); } }); return 1;',
    ];
    const runner = await UnconfinedRunnerProcess.load(
      `module.exports = { async handler(input, { host }) {
        switch (input) { ${loops.map((loop, n) => `case ${n}: { ${loop} break; }`).join('\n')} }
        return 'served';
      } };`,
      { limits },
    );
    for (let n = 0; n < loops.length; n++) {
      expect(await runner.run(2 * n + 1, n), loops[n]).to.equal('timeout');
      expect(await runner.run(2 * n + 2, 'other')).to.equal('served');
    }
  });

  it('the CPU time of an invocation adds up over its parts', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      `${BURN} module.exports = { async handler(input) {
        for (let n = 0; n < 300; n++) { burn(30); await new Promise((resolve) => setTimeout(resolve, 1)); }
        return 'not stopped';
      } };`,
      { limits },
    );
    expect(await runner.run(1)).to.equal('timeout');
  });

  it('a waiting invocation uses no CPU time', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      `module.exports = { handler: () => new Promise((resolve) => setTimeout(() => resolve(1), 1500)) };`,
      { limits },
    );
    expect(await runner.run(1)).to.equal(1);
  });

  it('promise jobs left behind are not charged to another invocation', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      `module.exports = { async handler(input, { host }) {
        if (input !== 1) return 'served';
        const again = () => { host.log.info('still here'); return Promise.resolve().then(again); };
        for (let n = 0; n < 50; n++) again();
        for (;;);
      } };`,
      { limits },
    );
    for (let id = 1; id <= 6; id += 2) {
      expect(await runner.run(id, 1)).to.equal('timeout');
      expect(await runner.run(id + 1, 2)).to.equal('served');
    }
    expect(runner.received).to.eql([]);
  });

  it('exhausted CPU time in a shared realm ends all its invocations, and the next one gets a new realm', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      `let count = 0; module.exports = { async handler(input, { host }) {
        if (input === 'burn') for (;;);
        if (input === 'wait') await host.settings.get('k');
        return ++count;
      } };`,
      { limits, reuse: true },
    );
    expect(await runner.run(1)).to.equal(1);
    runner.invoke(2, 'wait');
    await runner.next('call');
    expect(await runner.run(3, 'burn')).to.equal('timeout');
    expect(await runner.outcome(2)).to.equal('timeout');
    runner.reply(2, 1, null);
    expect(await runner.run(4)).to.equal(1);
    expect(await runner.run(5)).to.equal(2);
  });
});
