import { expect } from 'chai';
import { behaviourOnInvoke, createFakeLauncher, echoBehaviour, type FakeChild } from './fake-launcher.ts';
import {
  createTestScriptInvocation,
  getInvocationOutcome,
  waitForCondition,
  withSupervisor,
} from './supervisor-fixture.ts';

describe('supervisor: CPU time', () => {
  const limits = { cpu: 200, wall: 20_000 };
  const bounds = { cpuInterval: 5 };
  /** A fake guest program that executes forever and sends no message. */
  const stuck = (child: FakeChild, message: { type: string }): void => {
    if (message.type === 'load') child.sendLoaded();
  };
  const at = (child: FakeChild | undefined, milliseconds: number) => {
    if (child) child.cpu = milliseconds;
  };

  it('an invocation that exhausts its CPU time ends its process long before the wall-clock deadline', () => {
    const launcher = createFakeLauncher({ stuck });
    launcher.onLaunch = (child) => setImmediate(() => child.send({ type: 'hello', protocol: 1 }));
    return withSupervisor(launcher, { limits, bounds }, async ({ open, parked }) => {
      const guest = open('stuck');
      const since = performance.now();
      const answer = getInvocationOutcome(guest.invoke(createTestScriptInvocation()));
      await waitForCondition(() =>
        launcher.children.some(({ received }) => received.some(({ type }) => type === 'invoke')),
      );
      const child = launcher.children.find(({ behaviour }) => behaviour);
      at(child, 1000);
      await new Promise((resolve) => setTimeout(resolve, 30));
      at(child, 1210);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(child?.isAlive, 'its time is not over').to.equal(true);
      at(child, 1230);
      expect(await answer).to.equal('cpu-limit');
      expect(performance.now() - since).to.be.below(limits.wall);
      expect([guest.state(), parked], 'it is no crash').to.deep.equal(['idle', []]);
    });
  });

  it('wall-clock time without CPU time ends no process before the deadline on a slow machine', () => {
    const slow = behaviourOnInvoke((child, id, body) =>
      setTimeout(() => child.send({ type: 'result', id }, body), 1000),
    );
    const launcher = createFakeLauncher({ slow });
    return withSupervisor(launcher, { limits, bounds }, async ({ open }) => {
      const answer = getInvocationOutcome(open('slow').invoke(createTestScriptInvocation(5)));
      await waitForCondition(() =>
        launcher.children.some(({ received }) => received.some(({ type }) => type === 'invoke')),
      );
      for (const child of launcher.children) at(child, 50);
      expect(await answer).to.equal('5');
    });
  });

  it('the joint CPU time of many invocations that send messages ends no process', () => {
    const quick = behaviourOnInvoke((child, id, body) => {
      child.cpu = (child.cpu ?? 0) + 150;
      setTimeout(() => child.send({ type: 'result', id }, body), 20);
    });
    return withSupervisor(createFakeLauncher({ quick }), { limits, bounds }, async ({ open }) => {
      const guest = open('quick');
      const all = await Promise.all(
        Array.from({ length: 30 }, () => getInvocationOutcome(guest.invoke(createTestScriptInvocation(1)))),
      );
      expect(new Set(all)).to.deep.equal(new Set(['1']));
    });
  });

  it('cpu-limit is reported for the executing invocation and crash for those that wait beside it', () => {
    const mixed = (child: FakeChild, message: { type: string; id?: number }, body: string): void => {
      if (message.type === 'invoke' && body === '"hog"') child.behaviour = () => {};
      else if (message.type !== 'invoke' || body !== '"waits"') echoBehaviour(child, message as never, body);
    };
    const launcher = createFakeLauncher({ mixed });
    return withSupervisor(launcher, { limits, bounds }, async ({ open }) => {
      const guest = open('mixed');
      const waits = getInvocationOutcome(guest.invoke(createTestScriptInvocation('waits')));
      const [child] = launcher.children;
      await waitForCondition(() => child?.received.some(({ type }) => type === 'invoke') === true);
      // After the next invocation the supervisor sends no more until a ping confirms the first one.
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(1)))).to.equal('1');
      const second = getInvocationOutcome(guest.invoke(createTestScriptInvocation('waits')));
      await waitForCondition(
        () => child?.received.some(({ type }) => type === 'ping') === true || child?.received.length === 5,
      );
      at(child, 0);
      await new Promise((resolve) => setTimeout(resolve, 30));
      const hog = getInvocationOutcome(guest.invoke(createTestScriptInvocation('hog')));
      await waitForCondition(() => child?.received.filter(({ type }) => type === 'invoke').length === 4);
      await new Promise((resolve) => setTimeout(resolve, 30));
      at(child, 5000);
      const codes = await Promise.all([waits, second, hog]);
      expect(codes).to.include('cpu-limit').and.include('crash');
    });
  });

  it('the wall-clock deadline alone applies on a system that reports no CPU time', () =>
    withSupervisor(createFakeLauncher({ stuck }), { limits: { cpu: 50, wall: 500 }, bounds }, async ({ open }) => {
      expect(await getInvocationOutcome(open('stuck').invoke(createTestScriptInvocation()))).to.equal('timeout');
    }));
});
