import { expect } from 'chai';
import { behaviourOnInvoke, createFakeLauncher, echoBehaviour, type FakeChild } from './fake-launcher.ts';
import {
  createTestScriptInvocation,
  getInvocationOutcome,
  waitForCondition,
  withSupervisor,
} from './supervisor-fixture.ts';

/** A launcher with the program `slow`, whose invocations stay open until the test calls `answer`. */
function crowd() {
  const open: { readonly child: FakeChild; readonly id: number }[] = [];
  const slow = behaviourOnInvoke((child, id) => void open.push({ child, id }));
  const answer = (): void => {
    for (const { child, id } of open.splice(0)) child.send({ type: 'result', id }, '1');
  };
  return { launcher: createFakeLauncher({ slow, other: echoBehaviour }), open, answer };
}
const BOUNDS = { crowdSize: 3, maxLag: 0, calmTimeout: 20, sweepInterval: 10, spareDelay: 0 };
const serving = (open: readonly { readonly child: FakeChild }[]): number =>
  new Set(open.map(({ child }) => child)).size;

describe('supervisor: the helper process of a crowded program', () => {
  it('a helper process starts for a crowd of invocations and ends afterwards', () => {
    const { launcher, open, answer } = crowd();
    return withSupervisor(launcher, { bounds: BOUNDS }, async ({ open: opened }) => {
      const guest = opened('slow');
      const all: Promise<string | undefined>[] = [];
      while (serving(open) < 2 && all.length < 60) {
        all.push(getInvocationOutcome(guest.invoke(createTestScriptInvocation())));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect(serving(open)).to.equal(2);
      for (let at = 0; at < 6; at++) all.push(getInvocationOutcome(guest.invoke(createTestScriptInvocation())));
      await waitForCondition(() => open.length === all.length);
      const [first, second] = [...new Set(open.map(({ child }) => child))].map(
        (one) => open.filter(({ child }) => child === one).length,
      );
      expect(second, 'the less busy one is given more').to.be.above(2);
      expect(first).to.be.above(2);
      answer();
      expect(new Set(await Promise.all(all))).to.deep.equal(new Set(['1']));
      await waitForCondition(() => launcher.living() === 2);
      expect(guest.state()).to.equal('running');
    });
  });

  it('a stateful program gets no helper process', () => {
    const { launcher, open, answer } = crowd();
    return withSupervisor(launcher, { bounds: BOUNDS }, async ({ supervisor }) => {
      const guest = supervisor.open({ name: 'slow', script: 'slow', reuse: true, onParked() {} });
      const all = Array.from({ length: 20 }, () => getInvocationOutcome(guest.invoke(createTestScriptInvocation())));
      await waitForCondition(() => open.length === 20);
      all.push(getInvocationOutcome(guest.invoke(createTestScriptInvocation())));
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(serving(open)).to.equal(1);
      answer();
      await waitForCondition(() => open.length === 0);
      answer();
      await Promise.all(all);
    });
  });

  it('a helper process makes room for a program without a process', () => {
    const { launcher, open, answer } = crowd();
    return withSupervisor(
      launcher,
      { processes: 3, bounds: { ...BOUNDS, calmTimeout: 60_000 } },
      async ({ open: opened }) => {
        const guest = opened('slow');
        const all: Promise<string | undefined>[] = [];
        while (serving(open) < 2 && all.length < 60) {
          all.push(getInvocationOutcome(guest.invoke(createTestScriptInvocation())));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        // No process is idle, so the new program makes the helper end.
        let isOver = false;
        const answers = Promise.all(
          ['other', 'slow'].map((name) => getInvocationOutcome(opened(name).invoke(createTestScriptInvocation(7)))),
        );
        void answers.finally(() => (isOver = true));
        while (!isOver) {
          await new Promise((resolve) => setTimeout(resolve, 30));
          answer();
        }
        expect(await answers).to.deep.equal(['7', '1']);
        await Promise.all(all);
        expect(launcher.living()).to.be.at.most(3);
      },
    );
  });

  it('the death of a helper process fails its own invocations and no others', () => {
    const { launcher, open, answer } = crowd();
    return withSupervisor(launcher, { bounds: BOUNDS }, async ({ open: opened }) => {
      const guest = opened('slow');
      const all: Promise<string | undefined>[] = [];
      while (serving(open) < 2 && all.length < 60) {
        all.push(getInvocationOutcome(guest.invoke(createTestScriptInvocation())));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const helper = open.at(-1)?.child;
      const lost = open.filter(({ child }) => child === helper).length;
      helper?.die();
      await waitForCondition(() => !helper?.isAlive);
      answer();
      const codes = await Promise.all(all);
      expect(codes.filter((code) => code === 'crash')).to.have.length(lost);
      expect(codes.filter((code) => code === '1')).to.have.length(all.length - lost);
    });
  });

  it('a crowd that waits for timers or the host gets no helper process', () => {
    const { launcher, open, answer } = crowd();
    return withSupervisor(launcher, { bounds: { ...BOUNDS, maxLag: 1 }, now: () => 0 }, async ({ open: opened }) => {
      const guest = opened('slow');
      const all = Array.from({ length: 10 }, () => getInvocationOutcome(guest.invoke(createTestScriptInvocation())));
      await waitForCondition(() => open.length === 10);
      all.push(getInvocationOutcome(guest.invoke(createTestScriptInvocation())));
      await waitForCondition(() => open.length === 11);
      const pings = open[0]?.child.received.filter(({ type }) => type === 'ping').length;
      expect(pings).to.be.above(0);
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(serving(open)).to.equal(1);
      answer();
      await Promise.all(all);
    });
  });
});
