import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'chai';
import { behaviourOnInvoke, createFakeLauncher, echoBehaviour } from './fake-launcher.ts';
import {
  createTestScriptInvocation,
  getInvocationOutcome,
  waitForCondition,
  withSupervisor,
} from './supervisor-fixture.ts';

describe('supervisor: the process pool', () => {
  it('the pool starts no process before a program is opened and then keeps a spare', () =>
    withSupervisor(createFakeLauncher(), {}, async ({ open, launcher }) => {
      expect(launcher.children).to.have.length(0);
      const guest = open('echo');
      expect(launcher.children).to.have.length(1);
      await guest.invoke(createTestScriptInvocation());
      // The spare process became the program's, and the pool starts another spare.
      expect(launcher.children[0]?.behaviour).to.equal(echoBehaviour);
      await waitForCondition(() => launcher.living() === 2);
    }));

  it('the pool never exceeds its limit and ends the process idle for longest', () =>
    withSupervisor(
      createFakeLauncher({ a: echoBehaviour, b: echoBehaviour, c: echoBehaviour }),
      { processes: 2 },
      async ({ open, launcher }) => {
        let most = 0;
        const launch = launcher.launch.bind(launcher);
        launcher.launch = () => {
          const child = launch();
          most = Math.max(most, launcher.living());
          return child;
        };
        const [a, b, c] = ['a', 'b', 'c'].map(open);
        await a?.invoke(createTestScriptInvocation());
        await b?.invoke(createTestScriptInvocation());
        await a?.invoke(createTestScriptInvocation());
        await c?.invoke(createTestScriptInvocation());
        expect([a?.state(), b?.state(), c?.state()]).to.deep.equal(['running', 'idle', 'running']);
        expect(most).to.equal(2);
        expect(await getInvocationOutcome(b?.invoke(createTestScriptInvocation(3)) as Promise<Buffer>)).to.equal('3');
        expect([a?.state(), b?.state(), c?.state()]).to.deep.equal(['idle', 'running', 'running']);
        expect(most).to.equal(2);
      },
    ));

  it('an invocation is busy when no process is free within half of its time', () =>
    withSupervisor(
      createFakeLauncher({ works: behaviourOnInvoke(() => {}), other: echoBehaviour }),
      { processes: 1, limits: { wall: 2000 } },
      async ({ open, launcher }) => {
        const working = open('works');
        const answer = getInvocationOutcome(working.invoke(createTestScriptInvocation()));
        await waitForCondition(() =>
          launcher.children.some(({ received }) => received.some(({ type }) => type === 'invoke')),
        );
        const since = performance.now();
        expect(await getInvocationOutcome(open('other').invoke(createTestScriptInvocation()))).to.equal('busy');
        expect(performance.now() - since).to.be.at.least(990);
        await working.close();
        expect(await answer).to.equal('crash');
        expect(await getInvocationOutcome(open('other').invoke(createTestScriptInvocation(1)))).to.equal('1');
      },
    ));

  it('several programs that start at once each get a process', () =>
    withSupervisor(
      createFakeLauncher({ a: echoBehaviour, b: echoBehaviour, c: echoBehaviour, d: echoBehaviour }),
      { processes: 2 },
      async ({ open, launcher }) => {
        for (const name of ['a', 'b']) await open(name).invoke(createTestScriptInvocation());
        const both = await Promise.all(
          ['c', 'd'].map((name) => getInvocationOutcome(open(name).invoke(createTestScriptInvocation(name)))),
        );
        expect(both).to.deep.equal(['"c"', '"d"']);
        expect(launcher.living()).to.equal(2);
      },
    ));

  it('the pool ends processes that are idle for long, the spare last', () => {
    let time = 0;
    const options = { bounds: { idleTimeout: 60, sweepInterval: 10, spareDelay: 0 }, now: () => time };
    return withSupervisor(createFakeLauncher(), options, async ({ open, launcher }) => {
      const guest = open('echo');
      await guest.invoke(createTestScriptInvocation());
      await waitForCondition(() => launcher.living() === 2);
      time += 60;
      await waitForCondition(() => guest.state() === 'idle');
      await waitForCondition(() => launcher.living() === 0);
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(2)))).to.equal('2');
    });
  });

  it('the pool replaces a process that has served its maximum without a gap', () =>
    withSupervisor(createFakeLauncher(), { bounds: { maxServed: 10 } }, async ({ open, launcher }) => {
      const guest = open('echo');
      const replaced = () => launcher.children.filter(({ behaviour }) => behaviour).length - 1;
      let at = 0;
      while (replaced() < 3 && at < 10_000) {
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(++at)))).to.equal(String(at));
        await new Promise(setImmediate);
      }
      expect(replaced()).to.equal(3);
      await waitForCondition(() => launcher.living() <= 2);
    }));

  it('a replaced process finishes its invocations', () => {
    const slow = behaviourOnInvoke((child, id, body) =>
      setTimeout(() => child.send({ type: 'result', id }, body), body === '"slow"' ? 150 : 0),
    );
    return withSupervisor(createFakeLauncher({ slow }), { bounds: { maxServed: 3 } }, async ({ open, launcher }) => {
      const guest = open('slow');
      const answer = getInvocationOutcome(guest.invoke(createTestScriptInvocation('slow')));
      for (let at = 0; at < 6; at++) await guest.invoke(createTestScriptInvocation(at));
      expect(await answer).to.equal('"slow"');
      await waitForCondition(() => launcher.living() === 2);
    });
  });

  it('a process that has grown is replaced, or ended once idle where there is no room', () =>
    withSupervisor(
      createFakeLauncher(),
      { processes: 1, bounds: { sweepInterval: 10 } },
      async ({ open, launcher }) => {
        const guest = open('echo');
        await guest.invoke(createTestScriptInvocation());
        const [child] = launcher.children;
        await new Promise((resolve) => setTimeout(resolve, 40));
        expect(child?.isAlive).to.equal(true);
        if (child) child.bytes += 60 << 20;
        await waitForCondition(() => child?.isAlive === false);
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(1)))).to.equal('1');
      },
    ));

  it('a stateless process that has grown a little ends after some idle seconds, a stateful one does not', () =>
    withSupervisor(
      createFakeLauncher(),
      { bounds: { sweepInterval: 10, calmTimeout: 30 } },
      async ({ supervisor, open, launcher }) => {
        const stateful = supervisor.open({ name: 'echo', script: 'echo', reuse: true, onParked() {} });
        const guest = open('echo');
        await Promise.all([guest.invoke(createTestScriptInvocation()), stateful.invoke(createTestScriptInvocation())]);
        await new Promise((resolve) => setTimeout(resolve, 20));
        for (const child of launcher.children) child.bytes += 20 << 20;
        await waitForCondition(() => guest.state() === 'idle');
        expect(stateful.state()).to.equal('running');
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(1)))).to.equal('1');
      },
    ));

  it('a probe runs in a process of its own, which ends afterwards', () =>
    withSupervisor(
      createFakeLauncher({
        bad: (child) => child.send({ type: 'refused', code: 'invalid-entry' }),
        dies: (child) => child.die(),
      }),
      {},
      async ({ supervisor, launcher, open }) => {
        await open('echo').invoke(createTestScriptInvocation());
        const [entry] = await supervisor.probe('echo');
        expect(entry).to.deep.equal({ key: '', id: 'x', handler: true, filters: [], actions: [] });
        const code = (script: string) => supervisor.probe(script).catch((error) => error.code);
        expect([await code('bad'), await code('dies')]).to.deep.equal(['invalid-entry', 'crash']);
        const used = launcher.children.filter(({ received }) => received.some(({ type }) => type === 'load'));
        expect(used.map(({ isAlive }) => isAlive)).to.deep.equal([true, false, false, false]);
        expect(
          await getInvocationOutcome(open('echo').invoke(createTestScriptInvocation(1))),
          'probes of bad scripts block no invocation',
        ).to.equal('1');
      },
    ));

  it('a probe waits for a process only until its timeout', () => {
    let time = 0;
    return withSupervisor(
      createFakeLauncher({ works: behaviourOnInvoke(() => {}) }),
      { processes: 1, bounds: { probeTimeout: 150 }, now: () => time },
      async ({ supervisor, open, launcher }) => {
        const working = open('works');
        const answer = getInvocationOutcome(working.invoke(createTestScriptInvocation()));
        await waitForCondition(() =>
          launcher.children.some(({ received }) => received.some(({ type }) => type === 'invoke')),
        );
        const refused = supervisor.probe('echo').catch(({ code }) => code);
        time += 150;
        expect(await refused).to.equal('busy');
        const probe = supervisor.probe('echo');
        await working.close();
        expect(await probe).to.have.length(1);
        await answer;
      },
    );
  });

  it('failed launches are retried with growing delays', () => {
    const launcher = createFakeLauncher();
    const launch = launcher.launch.bind(launcher);
    let times = 0;
    launcher.launch = () => {
      times++;
      throw new Error('no more processes');
    };
    let time = 0;
    return withSupervisor(launcher, { bounds: { firstDelay: 30 }, now: () => time }, async ({ open }) => {
      const guest = open('echo');
      expect(times).to.equal(1);
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('busy');
      expect(times).to.equal(1);
      time += 30;
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('internal');
      launcher.launch = launch;
      time += 60;
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(9)))).to.equal('9');
    });
  });

  it('processes are launched outside of the asynchronous context of the request that needs them', () => {
    const storage = new AsyncLocalStorage<string>();
    const launcher = createFakeLauncher();
    const launch = launcher.launch.bind(launcher);
    const seen: (string | undefined)[] = [];
    launcher.launch = () => {
      seen.push(storage.getStore());
      return launch();
    };
    return withSupervisor(launcher, {}, async ({ open }) => {
      await storage.run('a request', async () => void (await open('echo').invoke(createTestScriptInvocation())));
      await waitForCondition(() => seen.length === 2);
      expect(seen).to.deep.equal([undefined, undefined]);
    });
  });

  it('close() ends a process that is still starting', () => {
    const launcher = createFakeLauncher();
    launcher.onLaunch = () => {};
    return withSupervisor(launcher, {}, async ({ open, supervisor }) => {
      const answer = getInvocationOutcome(open('echo').invoke(createTestScriptInvocation()));
      await supervisor.close();
      expect(await answer).to.equal('crash');
    });
  });
});
