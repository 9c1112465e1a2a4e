import { expect } from 'chai';
import { watchEventLoop } from '../../support/event-loop.ts';
import {
  behaviourOnInvoke,
  createFakeLauncher,
  echoBehaviour,
  type FakeChild,
  type FakeChildBehaviour,
} from './fake-launcher.ts';
import {
  createTestScriptInvocation,
  getInvocationOutcome,
  waitForCondition,
  withSupervisor,
} from './supervisor-fixture.ts';

const onInvocation = (what: (child: FakeChild, id: number) => void): FakeChildBehaviour => behaviourOnInvoke(what);

describe('supervisor: children that break the protocol', () => {
  const broken: Readonly<Record<string, FakeChildBehaviour>> = {
    'no frame': onInvocation((child) => child.raw(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))),
    'an endless frame': onInvocation((child) => child.raw(Buffer.from([0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff]))),
    'an unknown message': onInvocation((child) => child.send({ type: 'exec', id: 1 })),
    'a second hello': onInvocation((child) => child.send({ type: 'hello', protocol: 1 })),
    'loaded twice': onInvocation((child) => child.sendLoaded()),
    'refused after loaded': onInvocation((child) => child.send({ type: 'refused', code: 'timeout' })),
    'unexpected members': onInvocation((child, id) => child.send({ type: 'result', id, status: 200 })),
    'the end of the pipe': onInvocation((child) => child.childEnd.end()),
    'a result before loaded': (child, message) =>
      void (message.type === 'load' && child.send({ type: 'result', id: 1 }, '1')),
  };
  for (const [what, behaviour] of Object.entries(broken)) {
    it(`the supervisor ends a child that breaks the protocol: ${what}`, () =>
      withSupervisor(createFakeLauncher({ broken: behaviour }), {}, async ({ open, launcher }) => {
        expect(await getInvocationOutcome(open('broken').invoke(createTestScriptInvocation()))).to.equal('crash');
        const [child] = launcher.children.filter(({ behaviour: its }) => its === behaviour);
        expect(child?.isAlive).to.equal(false);
      }));
  }

  it('the supervisor rejects a child with another protocol version', () => {
    const launcher = createFakeLauncher();
    launcher.onLaunch = (child) => setImmediate(() => child.send({ type: 'hello', protocol: 2 }));
    return withSupervisor(launcher, {}, async ({ open }) => {
      expect(await getInvocationOutcome(open('echo').invoke(createTestScriptInvocation()))).to.equal('internal');
    });
  });

  it('the supervisor bounds the bytes queued for a child that does not read', () => {
    const big = 'x'.repeat(1 << 20);
    return withSupervisor(
      createFakeLauncher({
        deaf: (child, message) => {
          if (message.type === 'load') child.sendLoaded();
          else child.childEnd.pause();
        },
      }),
      { limits: { wall: 4000 } },
      async ({ open, launcher }) => {
        const guest = open('deaf');
        const codes = await Promise.all(
          Array.from({ length: 64 }, () => getInvocationOutcome(guest.invoke(createTestScriptInvocation(big)))),
        );
        const child = launcher.children.find(({ behaviour }) => behaviour) as FakeChild;
        expect(child.channel.writableLength).to.be.lessThan(40 << 20);
        expect(codes.filter((code) => code === 'busy').length).to.be.greaterThan(20);
        expect(codes).to.include('timeout');
      },
    );
  });

  it('the supervisor throttles reading from a child that floods it with useless frames', () => {
    let sent = 0;
    const flood = (child: FakeChild): void => {
      if (!child.isAlive) return;
      for (let at = 0; at < 200; at++) child.send({ type: 'call', id: 1, call: 0, method: 'log.info' }, '["x"]');
      sent += 200;
      if (child.childEnd.writableNeedDrain) child.childEnd.once('drain', () => flood(child));
      else setImmediate(flood, child);
    };
    let received = 0;
    return withSupervisor(
      createFakeLauncher({ flood: behaviourOnInvoke(flood) }),
      { limits: { wall: 2000 } },
      async ({ open }) => {
        const from = performance.now();
        const answer = getInvocationOutcome(
          open('flood').invoke(createTestScriptInvocation(1, { call: () => ++received < 0 })),
        );
        const loop = watchEventLoop();
        expect(await answer).to.equal('timeout');
        loop.stop();
        const seconds = (performance.now() - from) / 1000;
        expect(sent).to.be.greaterThan(2000);
        // The supervisor reads a burst of 2,000 frames, then 1,000 per second, and those of the last chunk.
        expect(received).to.be.lessThan(2000 + 1000 * seconds + 5000);
        expect(loop.longest()).to.be.lessThan(150);
      },
    );
  });

  it('host calls of a script while it loads are refused', () => {
    const replies: string[] = [];
    return withSupervisor(
      createFakeLauncher({
        eager: (child, message, body) => {
          if (message.type === 'load') child.send({ type: 'call', id: 1, call: 1, method: 'items.readMany' }, '[]');
          else if (message.type === 'reply') {
            replies.push(body);
            child.sendLoaded();
          } else echoBehaviour(child, message, body);
        },
      }),
      {},
      async ({ supervisor }) => {
        expect(await supervisor.probe('eager')).to.have.length(1);
        expect(JSON.parse(replies[0] as string).code).to.equal('unsupported');
      },
    );
  });

  it('the death of one process leaves other programs running', () =>
    withSupervisor(
      createFakeLauncher({ dies: behaviourOnInvoke((child) => child.die()) }),
      {},
      async ({ open, launcher }) => {
        const good = open('echo');
        await good.invoke(createTestScriptInvocation());
        expect(await getInvocationOutcome(open('dies').invoke(createTestScriptInvocation()))).to.equal('crash');
        expect(await getInvocationOutcome(good.invoke(createTestScriptInvocation(4)))).to.equal('4');
        await waitForCondition(() => launcher.living() <= 3);
      },
    ));
});
