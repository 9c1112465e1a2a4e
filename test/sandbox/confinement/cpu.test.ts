import { expect } from 'chai';
import {
  createTestScriptInvocation,
  createTestSupervisor,
  getInvocationOutcome,
  type SupervisorFixture,
} from '../supervisor/supervisor-fixture.ts';
import { createTestLauncher, isLinux, TEST_CHILD_MEMORY_BYTES, type TestLauncher } from './launcher-fixture.ts';

const CPU = 400;
const WALL = 60_000;

/** Guest code that spends seconds in one JavaScript built-in, which the engine cannot interrupt. */
const BUILT_INS: Readonly<Record<string, string>> = {
  'a regular expression': `/^(\\w+\\s?)*$/.test('a'.repeat(60) + '!')`,
  'JSON.stringify': `const row = {}; for (let n = 0; n < 1000; n++) row['k' + n] = 'x'; const all = Array(3000).fill(row); JSON.stringify(all.map(() => 0)); for (;;) try { JSON.stringify(all) } catch {}`,
  sort: `const all = Array.from({ length: 1e6 }, (_, n) => 'k' + ((n * 7919) % 1000003)); for (;;) all.toSorted()`,
  'String.prototype.replaceAll': `const text = 'ab'.repeat(500_000); for (;;) text.replaceAll('ab', 'ba')`,
  'String.prototype.repeat and indexOf': `const text = 'a'.repeat(8_000_000); for (;;) text.indexOf('a'.repeat(4_000_000) + 'b')`,
  'BigInt multiplication': `let n = 3n; for (;;) n = n > 10n ** 400_000n ? 3n : n * n * n`,
  'BigInt to text': `let n = 3n ** 500_000n; for (;;) String(n * n)`,
  'Array.prototype.includes': `const all = new Float64Array(4_000_000); for (;;) for (let n = 0; n < 50; n++) all.includes(1)`,
  'a typed array': `const all = new Float64Array(4_000_000).map(() => Math.random()); for (;;) all.slice().sort()`,
};

(isLinux ? describe : describe.skip)('confinement: CPU limit of built-ins that cannot be interrupted', function () {
  this.timeout(120_000);
  let fixture: SupervisorFixture<Pick<TestLauncher, 'posture' | 'launch' | 'close'>>;
  const children: ReturnType<TestLauncher['launch']>[] = [];
  before(async () => {
    const launcher = await createTestLauncher();
    const launch = () => {
      const child = launcher.launch();
      children.push(child);
      return child;
    };
    fixture = createTestSupervisor(
      { posture: launcher.posture, launch, close: () => launcher.close() },
      {
        limits: { memory: TEST_CHILD_MEMORY_BYTES * 2, cpu: CPU, wall: WALL },
        processes: 2,
        bounds: { maxCrashes: 1000, firstDelay: 1, longestDelay: 1 },
      },
    );
  });
  after(async () => {
    await fixture?.supervisor.close();
    await fixture?.launcher.close();
  });

  for (const [name, work] of Object.entries(BUILT_INS)) {
    it(`the child ends soon after its CPU time: ${name}`, async () => {
      const script = `(function (module) { module.exports = { id: 'x', handler() { ${work} } } })`;
      const guest = fixture.open(script);
      const before = new Map(children.map((child) => [child, child.cpuTime() ?? 0]));
      let used = 0;
      const watch = setInterval(() => {
        const times = children.map((child) => (child.cpuTime() ?? 0) - (before.get(child) ?? 0));
        used = Math.max(used, ...times);
      }, 20);
      const code = await getInvocationOutcome(guest.invoke(createTestScriptInvocation({})));
      clearInterval(watch);
      await guest.close();
      // Some of the code may exceed its memory limit first, which ends with crash.
      expect(code).to.be.oneOf(['cpu-limit', 'crash']);
      // The limit plus the CPU time of the process start and of the time between two checks on a busy machine.
      expect(used, 'milliseconds of CPU').to.be.within(50, CPU + 1200);
    });
  }
});
