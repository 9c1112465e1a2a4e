import { expect } from 'chai';
import { doing, echo, fakeLauncher } from './fake.ts';
import { outcome, run, until, withGround } from './ground.ts';

describe('supervisor: invocations', () => {
  it('starts a process on first use, loads the script once, and answers', () =>
    withGround(fakeLauncher(), {}, async ({ open, launcher }) => {
      const guest = open('echo');
      expect(guest.state()).to.equal('idle');
      expect(await outcome(guest.invoke(run({ a: 1 })))).to.equal('{"a":1}');
      expect(await Promise.all([1, 2, 3].map((at) => outcome(guest.invoke(run(at)))))).to.deep.equal(['1', '2', '3']);
      expect(guest.state()).to.equal('running');
      const loads = launcher.children.flatMap(({ got }) => got.filter(({ type }) => type === 'load'));
      expect(loads).to.have.length(1);
    }));

  it('gives each program a process of its own', () =>
    withGround(fakeLauncher({ other: echo }), {}, async ({ open, launcher }) => {
      await open('echo').invoke(run());
      await open('other').invoke(run());
      const served = launcher.children.map(({ got }) => got.filter(({ type }) => type === 'invoke').length);
      expect(served.filter((count) => count > 0)).to.deep.equal([1, 1]);
    }));

  it('tells apart no value and null', () =>
    withGround(
      fakeLauncher({ none: doing((child, id) => child.say({ type: 'result', id, none: true }, 'null')) }),
      {},
      async ({ open }) => {
        expect(await open('none').invoke(run())).to.equal(undefined);
        expect(await outcome(open('echo').invoke(run(null)))).to.equal('null');
      },
    ));

  it('passes on what the runner reports, and refuses a longer answer than allowed', () =>
    withGround(
      fakeLauncher({
        bad: doing((child, id) => child.say({ type: 'failure', id, code: 'guest-error' })),
        long: doing((child, id) => child.say({ type: 'result', id }, JSON.stringify('x'.repeat(2000)))),
      }),
      { limits: { result: 1000 } },
      async ({ open }) => {
        expect(await outcome(open('bad').invoke(run()))).to.equal('guest-error');
        expect(await outcome(open('long').invoke(run()))).to.equal('result-too-large');
      },
    ));

  it('hands calls to their own run, and answers them', () =>
    withGround(
      fakeLauncher({
        asks: (child, message, body) => {
          if (message.type === 'invoke')
            child.say({ type: 'call', id: message.id, call: 7, method: 'a.b' }, `[${body}]`);
          else if (message.type === 'reply')
            child.say({ type: 'result', id: message.id }, JSON.stringify([message.ok, message.call, JSON.parse(body)]));
          else echo(child, message, body);
        },
      }),
      {},
      async ({ open }) => {
        const guest = open('asks');
        const answers = [1, 2].map((at) =>
          outcome(
            guest.invoke(
              run(at, {
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

  it('hands no call of a finished or made-up run to anybody', () =>
    withGround(
      fakeLauncher({
        late: doing((child, id) => {
          child.say({ type: 'result', id }, '1');
          child.say({ type: 'call', id, call: 1, method: 'a.b' }, '[]');
          child.say({ type: 'call', id: id + 77, call: 1, method: 'a.b' }, '[]');
          child.say({ type: 'result', id: 99 }, '1');
          child.say({ type: 'result', id }, '2');
        }),
      }),
      {},
      async ({ open, launcher }) => {
        let calls = 0;
        const guest = open('late');
        const count = { call: () => ++calls > 0 };
        expect(await outcome(guest.invoke(run(1, count)))).to.equal('1');
        expect(await outcome(guest.invoke(run(1, count)))).to.equal('1');
        expect(calls).to.equal(0);
        expect(launcher.children.filter(({ isAlive }) => isAlive).length).to.be.greaterThan(0);
      },
    ));

  it('is busy above the invocations allowed at a time', () =>
    withGround(
      fakeLauncher({ never: doing(() => {}) }),
      { bounds: { inFlight: 3 }, limits: { wall: 1000 } },
      async ({ open }) => {
        const guest = open('never');
        const codes = await Promise.all([1, 2, 3, 4, 5].map(() => outcome(guest.invoke(run()))));
        expect(codes.sort()).to.deep.equal(['busy', 'busy', 'timeout', 'timeout', 'timeout']);
      },
    ));

  it('ends with timeout when its signal aborts, and the process is told', () =>
    withGround(fakeLauncher({ never: doing(() => {}) }), {}, async ({ open, launcher }) => {
      const gone = new AbortController();
      const guest = open('never');
      const answer = outcome(guest.invoke(run(1, { signal: gone.signal })));
      await until(() => launcher.children.some(({ got }) => got.some(({ type }) => type === 'invoke')));
      gone.abort();
      expect(await answer).to.equal('timeout');
      await until(() => launcher.children.some(({ got }) => got.some(({ type }) => type === 'cancel')));
      await until(() => guest.busy === 0);
      expect(await outcome(guest.invoke(run(1, { signal: gone.signal })))).to.equal('timeout');
    }));

  it('fails what is in flight when it is closed, and takes nothing more', () =>
    withGround(fakeLauncher({ never: doing(() => {}) }), {}, async ({ open }) => {
      const guest = open('never');
      const answer = outcome(guest.invoke(run()));
      await until(() => guest.busy === 1);
      await guest.close();
      expect(await answer).to.equal('crash');
      expect(await outcome(guest.invoke(run()))).to.equal('internal');
    }));
});
