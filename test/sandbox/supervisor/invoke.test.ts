import { expect } from 'chai';
import { behaviourOnInvoke, createFakeLauncher, echoBehaviour } from './fake-launcher.ts';
import {
  createTestScriptInvocation,
  getInvocationOutcome,
  waitForCondition,
  withSupervisor,
} from './supervisor-fixture.ts';

describe('supervisor: invocations', () => {
  it('the first invocation starts a process, and the script is loaded once', () =>
    withSupervisor(createFakeLauncher(), {}, async ({ open, launcher }) => {
      const guest = open('echo');
      expect(guest.state()).to.equal('idle');
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation({ a: 1 })))).to.equal('{"a":1}');
      expect(
        await Promise.all([1, 2, 3].map((at) => getInvocationOutcome(guest.invoke(createTestScriptInvocation(at))))),
      ).to.deep.equal(['1', '2', '3']);
      expect(guest.state()).to.equal('running');
      const loads = launcher.children.flatMap(({ received }) => received.filter(({ type }) => type === 'load'));
      expect(loads).to.have.length(1);
    }));

  it('each program has a process of its own', () =>
    withSupervisor(createFakeLauncher({ other: echoBehaviour }), {}, async ({ open, launcher }) => {
      await open('echo').invoke(createTestScriptInvocation());
      await open('other').invoke(createTestScriptInvocation());
      const served = launcher.children.map(({ received }) => received.filter(({ type }) => type === 'invoke').length);
      expect(served.filter((count) => count > 0)).to.deep.equal([1, 1]);
    }));

  it('an invocation distinguishes no value from null', () =>
    withSupervisor(
      createFakeLauncher({
        none: behaviourOnInvoke((child, id) => child.send({ type: 'result', id, none: true }, 'null')),
      }),
      {},
      async ({ open }) => {
        expect(await open('none').invoke(createTestScriptInvocation())).to.equal(undefined);
        expect(await getInvocationOutcome(open('echo').invoke(createTestScriptInvocation(null)))).to.equal('null');
      },
    ));

  it('failures of the runner are passed on, and a result over the limit is refused', () =>
    withSupervisor(
      createFakeLauncher({
        bad: behaviourOnInvoke((child, id) => child.send({ type: 'failure', id, code: 'guest-error' })),
        long: behaviourOnInvoke((child, id) => child.send({ type: 'result', id }, JSON.stringify('x'.repeat(2000)))),
      }),
      { limits: { result: 1000 } },
      async ({ open }) => {
        expect(await getInvocationOutcome(open('bad').invoke(createTestScriptInvocation()))).to.equal('guest-error');
        expect(await getInvocationOutcome(open('long').invoke(createTestScriptInvocation()))).to.equal(
          'result-too-large',
        );
      },
    ));

  it('host calls reach their own invocation and are answered', () =>
    withSupervisor(
      createFakeLauncher({
        asks: (child, message, body) => {
          if (message.type === 'invoke')
            child.send({ type: 'call', id: message.id, call: 7, method: 'a.b' }, `[${body}]`);
          else if (message.type === 'reply')
            child.send(
              { type: 'result', id: message.id },
              JSON.stringify([message.ok, message.call, JSON.parse(body)]),
            );
          else echoBehaviour(child, message, body);
        },
      }),
      {},
      async ({ open }) => {
        const guest = open('asks');
        const answers = [1, 2].map((at) =>
          getInvocationOutcome(
            guest.invoke(
              createTestScriptInvocation(at, {
                call({ method, body, reply }) {
                  reply?.(true, JSON.stringify(`${method}${body.toString()}`));
                  return true;
                },
              }),
            ),
          ),
        );
        expect(await Promise.all(answers)).to.deep.equal(['[true,7,"a.b[1]"]', '[true,7,"a.b[2]"]']);
      },
    ));

  it('host calls of finished or unknown invocations are dropped', () =>
    withSupervisor(
      createFakeLauncher({
        late: behaviourOnInvoke((child, id) => {
          child.send({ type: 'result', id }, '1');
          child.send({ type: 'call', id, call: 1, method: 'a.b' }, '[]');
          child.send({ type: 'call', id: id + 77, call: 1, method: 'a.b' }, '[]');
          child.send({ type: 'result', id: 99 }, '1');
          child.send({ type: 'result', id }, '2');
        }),
      }),
      {},
      async ({ open, launcher }) => {
        let calls = 0;
        const guest = open('late');
        const count = { call: () => ++calls > 0 };
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(1, count)))).to.equal('1');
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(1, count)))).to.equal('1');
        expect(calls).to.equal(0);
        expect(launcher.children.filter(({ isAlive }) => isAlive).length).to.be.greaterThan(0);
      },
    ));

  it('an invocation above the allowed number in flight is busy', () =>
    withSupervisor(
      createFakeLauncher({ never: behaviourOnInvoke(() => {}) }),
      { bounds: { maxInFlight: 3 }, limits: { wall: 1000 } },
      async ({ open }) => {
        const guest = open('never');
        const codes = await Promise.all(
          [1, 2, 3, 4, 5].map(() => getInvocationOutcome(guest.invoke(createTestScriptInvocation()))),
        );
        expect(codes.sort()).to.deep.equal(['busy', 'busy', 'timeout', 'timeout', 'timeout']);
      },
    ));

  it('an aborted signal ends the invocation with timeout and cancels it in the process', () =>
    withSupervisor(createFakeLauncher({ never: behaviourOnInvoke(() => {}) }), {}, async ({ open, launcher }) => {
      const gone = new AbortController();
      const guest = open('never');
      const answer = getInvocationOutcome(guest.invoke(createTestScriptInvocation(1, { signal: gone.signal })));
      await waitForCondition(() =>
        launcher.children.some(({ received }) => received.some(({ type }) => type === 'invoke')),
      );
      gone.abort();
      expect(await answer).to.equal('timeout');
      await waitForCondition(() =>
        launcher.children.some(({ received }) => received.some(({ type }) => type === 'cancel')),
      );
      await waitForCondition(() => guest.busy === 0);
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(1, { signal: gone.signal })))).to.equal(
        'timeout',
      );
    }));

  it('close() fails invocations in flight and rejects new ones', () =>
    withSupervisor(createFakeLauncher({ never: behaviourOnInvoke(() => {}) }), {}, async ({ open }) => {
      const guest = open('never');
      const answer = getInvocationOutcome(guest.invoke(createTestScriptInvocation()));
      await waitForCondition(() => guest.busy === 1);
      await guest.close();
      expect(await answer).to.equal('crash');
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('internal');
    }));
});
