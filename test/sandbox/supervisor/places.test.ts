import { expect } from 'chai';
import { type Behaviour, doing, echo, type FakeChild, fakeLauncher } from './fake.ts';
import { outcome, run, until, withGround } from './ground.ts';

/** Programs `p0`, `p1`, … of one behaviour. */
const programs = (count: number, behaviour: Behaviour) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, behaviour]));

/** Executes until it is told to stop: it answers neither invocations nor pings meanwhile. */
function executing() {
  const held: { readonly child: FakeChild; readonly id: number; readonly type: string }[] = [];
  const behaviour: Behaviour = (child, message, body) => {
    if (message.type === 'load') child.loaded();
    else if (message.type === 'invoke' || message.type === 'ping') held.push({ child, ...message });
    else echo(child, message, body);
  };
  const release = (): void => {
    for (const { child, id, type } of held.splice(0))
      child.say(type === 'ping' ? { type: 'pong', id } : { type: 'result', id }, type === 'ping' ? '' : '1');
  };
  return { behaviour, release, invocations: () => held.filter(({ type }) => type === 'invoke') };
}

describe('supervisor: places of execution', () => {
  it('gives the place of a process that waits to another program', () => {
    const waiting = doing(() => {});
    const options = { processes: 30, places: 2 };
    return withGround(fakeLauncher(programs(20, waiting)), options, async ({ open, launcher }) => {
      const guests = Array.from({ length: 20 }, (_, at) => open(`p${at}`));
      const answers = guests.map((guest) => outcome(guest.invoke(run())));
      const invoked = () => launcher.children.filter(({ got }) => got.some(({ type }) => type === 'invoke')).length;
      await until(() => invoked() === 20, 'twenty programs at a time on two places');
      expect(await outcome(open('echo').invoke(run(7)))).to.equal('7');
      await Promise.all(guests.map((guest) => guest.close()));
      expect(new Set(await Promise.all(answers))).to.deep.equal(new Set(['crash']));
    });
  });

  it('lets no more processes execute than there are places', () => {
    const { behaviour, release, invocations } = executing();
    const options = { processes: 10, places: 2 };
    return withGround(fakeLauncher(programs(5, behaviour)), options, async ({ open }) => {
      const guests = Array.from({ length: 5 }, (_, at) => open(`p${at}`));
      // Each has its process before any of them executes for long.
      for (const guest of guests) {
        const first = outcome(guest.invoke(run()));
        await until(() => invocations().length > 0);
        release();
        expect(await first).to.equal('1');
      }
      const answers = guests.map((guest) => outcome(guest.invoke(run())));
      const served: number[] = [];
      while (served.length < 5) {
        await until(() => invocations().length > 0);
        expect(invocations().length).to.be.at.most(2);
        served.push(...invocations().map(({ id }) => id));
        release();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect(await Promise.all(answers)).to.deep.equal(['1', '1', '1', '1', '1']);
    });
  });

  it('gives all programs turns while one of them has many invocations', () => {
    const order: string[] = [];
    const slow = (name: string) =>
      doing((child, id, body) => {
        order.push(name);
        setTimeout(() => child.say({ type: 'result', id }, body), 5);
      });
    const pingless: (inner: Behaviour) => Behaviour = (inner) => (child, message, body) => {
      if (message.type !== 'ping') inner(child, message, body);
    };
    const launcher = fakeLauncher({ many: pingless(slow('many')), few: pingless(slow('few')) });
    return withGround(launcher, { processes: 4, places: 1 }, async ({ open }) => {
      const [many, few] = [open('many'), open('few')];
      await Promise.all([many.invoke(run()), few.invoke(run())]);
      order.length = 0;
      const all = Array.from({ length: 40 }, () => outcome(many.invoke(run())));
      const one = Array.from({ length: 3 }, () => outcome(few.invoke(run())));
      await Promise.all(one);
      expect(order.filter((name) => name === 'many').length, order.join(' ')).to.be.below(20);
      await Promise.all(all);
    });
  });

  it('sends a process no more than it works off, and keeps back at most 32 MiB of inputs', () => {
    const { behaviour, release, invocations } = executing();
    const options = { bounds: { queuedBytes: 20_000 } };
    return withGround(fakeLauncher({ slow: behaviour }), options, async ({ open }) => {
      const guest = open('slow');
      const answers = Array.from({ length: 30 }, () => outcome(guest.invoke(run('x'.repeat(998)))));
      await until(() => invocations().length > 0);
      expect(invocations().length).to.be.at.most(2);
      const codes: (string | undefined)[] = [];
      for (const answer of answers) void answer.then((code) => codes.push(code));
      await until(() => codes.length === 10, 'the refusal of what is beyond the bytes');
      expect(new Set(codes)).to.deep.equal(new Set(['busy']));
      while (codes.length < 30) {
        release();
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect(codes.filter((code) => code === '1')).to.have.length(20);
    });
  });

  it('gives a program that waits for a process the one that has served its program for longest', () => {
    const forever = doing(() => {});
    const ends = doing((child, id, body) => setTimeout(() => child.say({ type: 'result', id }, body), 50));
    const options = { processes: 2, bounds: { turn: 20, claims: 5 } };
    return withGround(fakeLauncher({ forever, ends }), options, async ({ open, launcher }) => {
      const [first, second] = [open('ends'), open('forever')];
      let isOver = false;
      // The first is never without an invocation.
      const stream = (async () => {
        while (!isOver) await Promise.all([1, 2, 3].map((at) => outcome(first.invoke(run(at)))));
      })();
      const waits = outcome(second.invoke(run()));
      await until(() => launcher.children.filter(({ got }) => got.some(({ type }) => type === 'invoke')).length === 2);
      expect(await outcome(open('echo').invoke(run(5)))).to.equal('5');
      isOver = true;
      await second.close();
      await Promise.all([stream, waits]);
    });
  });
});
