import { expect } from 'chai';
import { doing, echo, fakeLauncher } from './fake.ts';
import { outcome, run, until, withGround } from './ground.ts';

describe('supervisor: deadlines', () => {
  it('ends a run at its deadline and keeps a process that still answers', () =>
    withGround(
      fakeLauncher({
        some: doing((child, id, body) => body === '"never"' || child.say({ type: 'result', id }, body)),
      }),
      {},
      async ({ open, launcher }) => {
        const guest = open('some');
        await guest.invoke(run(1));
        const from = performance.now();
        expect(await outcome(guest.invoke(run('never')))).to.equal('timeout');
        const took = performance.now() - from;
        expect(took).to.be.within(290, 450);
        await until(() => guest.busy === 0);
        expect(await outcome(guest.invoke(run(2)))).to.equal('2');
        const loads = launcher.children.flatMap(({ got }) => got.filter(({ type }) => type === 'load'));
        expect(loads).to.have.length(1);
      },
    ));

  it('kills a process that answers nothing after a deadline; neighbours crash, and the next call works', () => {
    let isStuck = true;
    return withGround(
      fakeLauncher({
        stuck: (child, message, body) => {
          if (message.type === 'load') return child.loaded();
          if (!isStuck) echo(child, message, body);
        },
      }),
      { limits: { wall: 200 }, bounds: { health: 20 } },
      async ({ open, launcher, parked }) => {
        const guest = open('stuck');
        const first = outcome(guest.invoke(run(1)));
        await until(() => launcher.children.some(({ got }) => got.some(({ type }) => type === 'invoke')));
        await new Promise((resolve) => setTimeout(resolve, 60));
        const second = outcome(guest.invoke(run(2)));
        expect([await first, await second]).to.deep.equal(['timeout', 'crash']);
        isStuck = false;
        expect(await outcome(guest.invoke(run(3)))).to.equal('3');
        expect(parked).to.deep.equal([]);
      },
    );
  });

  it('bounds loading', () =>
    withGround(fakeLauncher({ slow: () => {} }), {}, async ({ open, supervisor }) => {
      expect(await outcome(open('slow').invoke(run()))).to.equal('timeout');
      expect(
        await supervisor.probe('slow').then(
          () => 'contract',
          ({ code }) => code,
        ),
      ).to.equal('timeout');
    }));

  it('bounds the start of a process, and blames no program for it', () => {
    const launcher = fakeLauncher();
    launcher.start = () => {};
    return withGround(launcher, { bounds: { hello: 50, firstDelay: 20 } }, async ({ open }) => {
      const guest = open('echo');
      expect(await outcome(guest.invoke(run()))).to.equal('internal');
      launcher.start = (child) => child.say({ type: 'hello', protocol: 1 });
      await until(() => launcher.living() === 0);
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(await outcome(guest.invoke(run(5)))).to.equal('5');
    });
  });

  it('counts a run that nobody waits for until it is seen to be gone', () =>
    withGround(
      fakeLauncher({
        // Answers nothing at all, pings included.
        deaf: (child, message) => void (message.type === 'load' && child.loaded()),
      }),
      { bounds: { inFlight: 1 }, limits: { wall: 150 } },
      async ({ open, launcher }) => {
        const guest = open('deaf');
        const gone = new AbortController();
        const answer = outcome(guest.invoke(run(1, { signal: gone.signal })));
        await until(() => launcher.children.some(({ got }) => got.some(({ type }) => type === 'invoke')));
        gone.abort();
        expect(await answer).to.equal('timeout');
        expect(await outcome(guest.invoke(run(2)))).to.equal('busy');
        await until(() => guest.busy === 0, 'the end of the deaf process');
      },
    ));
});
