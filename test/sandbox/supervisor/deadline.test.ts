import { expect } from 'chai';
import { behaviourOnInvoke, createFakeLauncher, echoBehaviour } from './fake-launcher.ts';
import {
  createTestScriptInvocation,
  getInvocationOutcome,
  waitForCondition,
  withSupervisor,
} from './supervisor-fixture.ts';

/** Milliseconds until the deadline of invocations in these tests, long enough for the steps before it. */
const WALL = 1500;

describe('supervisor: deadlines of invocations, loading and process starts', () => {
  it('the supervisor ends an invocation at its deadline and keeps a process that still answers pings', () =>
    withSupervisor(
      createFakeLauncher({
        some: behaviourOnInvoke((child, id, body) => body === '"never"' || child.send({ type: 'result', id }, body)),
      }),
      { limits: { wall: WALL } },
      async ({ open, launcher }) => {
        const guest = open('some');
        await guest.invoke(createTestScriptInvocation(1));
        const from = performance.now();
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation('never')))).to.equal('timeout');
        expect(performance.now() - from).to.be.at.least(WALL - 10);
        await waitForCondition(() => guest.busy === 0);
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(2)))).to.equal('2');
        const loads = launcher.children.flatMap(({ received }) => received.filter(({ type }) => type === 'load'));
        expect(loads).to.have.length(1);
      },
    ));

  it('the supervisor kills a process that does not answer after a deadline; its other invocations crash, the next one succeeds', () => {
    let isStuck = true;
    return withSupervisor(
      createFakeLauncher({
        stuck: (child, message, body) => {
          if (message.type === 'load') return child.sendLoaded();
          if (!isStuck) echoBehaviour(child, message, body);
        },
      }),
      { limits: { wall: WALL }, bounds: { healthTimeout: 20 } },
      async ({ open, parked }) => {
        const guest = open('stuck');
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(1)))).to.equal('timeout');
        // The supervisor ends the process 20 ms later, since that does not answer the ping, and the second invocation with it.
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(2)))).to.equal('crash');
        isStuck = false;
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(3)))).to.equal('3');
        expect(parked).to.deep.equal([]);
      },
    );
  });

  it('the supervisor keeps a process that answers late after a deadline because it waits for a core', () =>
    withSupervisor(
      createFakeLauncher({
        late: (child, message, body) => {
          if (message.type === 'ping') setTimeout(() => child.send({ type: 'pong', id: message.id }), 300);
          else if (message.type !== 'invoke' || body !== '"never"') echoBehaviour(child, message, body);
        },
      }),
      { limits: { wall: 300 } },
      async ({ open, launcher }) => {
        const guest = open('late');
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation('never')))).to.equal('timeout');
        await waitForCondition(() => guest.busy === 0);
        expect(launcher.children.every(({ isAlive }) => isAlive)).to.equal(true);
      },
    ));

  it('loading a script ends with timeout at its deadline', () =>
    withSupervisor(createFakeLauncher({ slow: () => {} }), { limits: { wall: 300 } }, async ({ open, supervisor }) => {
      expect(await getInvocationOutcome(open('slow').invoke(createTestScriptInvocation()))).to.equal('timeout');
      expect(
        await supervisor.probe('slow').then(
          () => 'contract',
          ({ code }) => code,
        ),
      ).to.equal('timeout');
    }));

  it('a process that does not start in time ends, and no program is blamed for it', () => {
    const launcher = createFakeLauncher();
    launcher.onLaunch = () => {};
    return withSupervisor(launcher, { bounds: { helloTimeout: 50, firstDelay: 20 } }, async ({ open }) => {
      const guest = open('echo');
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('internal');
      launcher.onLaunch = (child) => child.send({ type: 'hello', protocol: 1 });
      await waitForCondition(() => launcher.living() === 0);
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(5)))).to.equal('5');
    });
  });

  it('a cancelled invocation counts as in flight until the process confirms its end', () =>
    withSupervisor(
      createFakeLauncher({
        // Answers no message after the load, pings included.
        deaf: (child, message) => void (message.type === 'load' && child.sendLoaded()),
      }),
      { bounds: { maxInFlight: 1 }, limits: { wall: WALL } },
      async ({ open, launcher }) => {
        const guest = open('deaf');
        const gone = new AbortController();
        const answer = getInvocationOutcome(guest.invoke(createTestScriptInvocation(1, { signal: gone.signal })));
        await waitForCondition(() =>
          launcher.children.some(({ received }) => received.some(({ type }) => type === 'invoke')),
        );
        gone.abort();
        expect(await answer).to.equal('timeout');
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(2)))).to.equal('busy');
        await waitForCondition(() => guest.busy === 0, 'the end of the deaf process');
      },
    ));
});
