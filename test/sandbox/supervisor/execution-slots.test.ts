import { expect } from 'chai';
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

/** Fake guest programs `p0`, `p1`, … with the same behaviour. */
const programs = (count: number, behaviour: FakeChildBehaviour) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, behaviour]));

/** A fake guest program that answers neither invocations nor pings until the test calls `release`. */
function executing() {
  const held: { readonly child: FakeChild; readonly id: number; readonly type: string }[] = [];
  const behaviour: FakeChildBehaviour = (child, message, body) => {
    if (message.type === 'load') child.sendLoaded();
    else if (message.type === 'invoke' || message.type === 'ping') held.push({ child, ...message });
    else echoBehaviour(child, message, body);
  };
  const release = (): void => {
    for (const { child, id, type } of held.splice(0))
      child.send(type === 'ping' ? { type: 'pong', id } : { type: 'result', id }, type === 'ping' ? '' : '1');
  };
  return { behaviour, release, invocations: () => held.filter(({ type }) => type === 'invoke') };
}

describe('supervisor: execution slots', () => {
  it('the slot of a waiting process passes to another program', () => {
    const waiting = behaviourOnInvoke(() => {});
    const options = { processes: 30, slots: 2 };
    return withSupervisor(createFakeLauncher(programs(20, waiting)), options, async ({ open, launcher }) => {
      const guests = Array.from({ length: 20 }, (_, at) => open(`p${at}`));
      const answers = guests.map((guest) => getInvocationOutcome(guest.invoke(createTestScriptInvocation())));
      const invoked = () =>
        launcher.children.filter(({ received }) => received.some(({ type }) => type === 'invoke')).length;
      await waitForCondition(() => invoked() === 20, 'twenty programs at a time on two slots');
      expect(await getInvocationOutcome(open('echo').invoke(createTestScriptInvocation(7)))).to.equal('7');
      await Promise.all(guests.map((guest) => guest.close()));
      expect(new Set(await Promise.all(answers))).to.deep.equal(new Set(['crash']));
    });
  });

  it('no more processes execute than there are slots', () => {
    const { behaviour, release, invocations } = executing();
    const options = { processes: 10, slots: 2 };
    return withSupervisor(createFakeLauncher(programs(5, behaviour)), options, async ({ open }) => {
      const guests = Array.from({ length: 5 }, (_, at) => open(`p${at}`));
      // Gives each program a process, before any of them executes for long.
      for (const guest of guests) {
        const first = getInvocationOutcome(guest.invoke(createTestScriptInvocation()));
        await waitForCondition(() => invocations().length > 0);
        release();
        expect(await first).to.equal('1');
      }
      const answers = guests.map((guest) => getInvocationOutcome(guest.invoke(createTestScriptInvocation())));
      const served: number[] = [];
      while (served.length < 5) {
        await waitForCondition(() => invocations().length > 0);
        expect(invocations().length).to.be.at.most(2);
        served.push(...invocations().map(({ id }) => id));
        release();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect(await Promise.all(answers)).to.deep.equal(['1', '1', '1', '1', '1']);
    });
  });

  it('all programs have turns while one of them has many invocations', () => {
    const order: string[] = [];
    const slow = (name: string) =>
      behaviourOnInvoke((child, id, body) => {
        order.push(name);
        setTimeout(() => child.send({ type: 'result', id }, body), 5);
      });
    const pingless: (inner: FakeChildBehaviour) => FakeChildBehaviour = (inner) => (child, message, body) => {
      if (message.type !== 'ping') inner(child, message, body);
    };
    const launcher = createFakeLauncher({ many: pingless(slow('many')), few: pingless(slow('few')) });
    return withSupervisor(launcher, { processes: 4, slots: 1 }, async ({ open }) => {
      const [many, few] = [open('many'), open('few')];
      await Promise.all([many.invoke(createTestScriptInvocation()), few.invoke(createTestScriptInvocation())]);
      order.length = 0;
      const all = Array.from({ length: 40 }, () => getInvocationOutcome(many.invoke(createTestScriptInvocation())));
      const one = Array.from({ length: 3 }, () => getInvocationOutcome(few.invoke(createTestScriptInvocation())));
      await Promise.all(one);
      expect(order.filter((name) => name === 'many').length, order.join(' ')).to.be.below(20);
      await Promise.all(all);
    });
  });

  it('the supervisor sends a process no more than it confirms and queues at most 32 MiB of inputs', () => {
    const { behaviour, release, invocations } = executing();
    const options = { bounds: { maxQueuedBytes: 20_000 } };
    return withSupervisor(createFakeLauncher({ slow: behaviour }), options, async ({ open }) => {
      const guest = open('slow');
      const answers = Array.from({ length: 30 }, () =>
        getInvocationOutcome(guest.invoke(createTestScriptInvocation('x'.repeat(998)))),
      );
      await waitForCondition(() => invocations().length > 0);
      expect(invocations().length).to.be.at.most(2);
      const codes: (string | undefined)[] = [];
      for (const answer of answers) void answer.then((code) => codes.push(code));
      await waitForCondition(() => codes.length === 10, 'the refusal of what is beyond the bytes');
      expect(new Set(codes)).to.deep.equal(new Set(['busy']));
      while (codes.length < 30) {
        release();
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect(codes.filter((code) => code === '1')).to.have.length(20);
    });
  });

  it('a program that waits for a process replaces the one that has served for longest', () => {
    const forever = behaviourOnInvoke(() => {});
    const ends = behaviourOnInvoke((child, id, body) => setTimeout(() => child.send({ type: 'result', id }, body), 50));
    const options = { processes: 2, bounds: { minService: 20, claimInterval: 5 } };
    return withSupervisor(createFakeLauncher({ forever, ends }), options, async ({ open, launcher }) => {
      const [first, second] = [open('ends'), open('forever')];
      let isOver = false;
      // The first program always has invocations in flight.
      const stream = (async () => {
        while (!isOver)
          await Promise.all([1, 2, 3].map((at) => getInvocationOutcome(first.invoke(createTestScriptInvocation(at)))));
      })();
      const waits = getInvocationOutcome(second.invoke(createTestScriptInvocation()));
      await waitForCondition(
        () => launcher.children.filter(({ received }) => received.some(({ type }) => type === 'invoke')).length === 2,
      );
      expect(await getInvocationOutcome(open('echo').invoke(createTestScriptInvocation(5)))).to.equal('5');
      isOver = true;
      await second.close();
      await Promise.all([stream, waits]);
    });
  });
});
