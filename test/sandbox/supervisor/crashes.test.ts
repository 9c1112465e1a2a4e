import { expect } from 'chai';
import { BOUNDS } from '../../../sandbox/host/supervisor/bounds.ts';
import { Stability } from '../../../sandbox/host/supervisor/stability.ts';
import { doing, fakeLauncher } from './fake.ts';
import { outcome, run, until, withGround } from './ground.ts';

describe('supervisor: stability', () => {
  const stability = () => {
    let time = 0;
    const one = new Stability({ ...BOUNDS, crashWindow: 1 }, () => time);
    return { one, pass: (milliseconds: number) => (time += milliseconds) };
  };

  it('lets the first restart be immediate, and doubles the wait up to half a minute', () => {
    const { one, pass } = stability();
    const waits: number[] = [];
    for (let at = 0; at < 12; at++) {
      one.crashed();
      waits.push(one.wait());
      pass(one.wait() + 1);
    }
    expect(waits).to.deep.equal([0, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000]);
  });

  it('begins anew after a minute of good service, not after a minute of waiting', () => {
    const { one, pass } = stability();
    for (let at = 0; at < 4; at++) one.crashed();
    pass(120_000);
    one.crashed();
    expect(one.wait()).to.equal(800);
    one.serving();
    pass(60_000);
    one.crashed();
    expect(one.wait()).to.equal(0);
  });

  it('parks after five crashes within a minute, or twenty used-up invocations', () => {
    let time = 0;
    for (const [times, mishap] of [
      [5, 'crashed'],
      [20, 'exhausted'],
    ] as const) {
      const one = new Stability(BOUNDS, () => (time += 100));
      const parked = Array.from({ length: times + 2 }, () => one[mishap]());
      expect(parked.indexOf(true)).to.equal(times - 1);
      expect(parked.filter(Boolean)).to.have.length(1);
      one.restart();
      expect([one.parked, one.wait()]).to.deep.equal([false, 0]);
    }
    const together = new Stability(BOUNDS, () => 0);
    for (let at = 0; at < 64; at++) expect(together.exhausted()).to.equal(false);
  });

  it('forgets crashes that are long past', () => {
    let time = 0;
    const one = new Stability(BOUNDS, () => time);
    for (let at = 0; at < 50; at++) {
      expect(one.crashed()).to.equal(false);
      time += 15_001;
    }
  });
});

describe('supervisor: crashes', () => {
  const dying = (count: { left: number }) =>
    doing((child, id, body) => (count.left-- > 0 ? child.die() : child.say({ type: 'result', id }, body)));

  it('restarts at once after the first, is busy while it waits after the second', () => {
    const count = { left: 2 };
    let time = 0;
    return withGround(fakeLauncher({ dies: dying(count) }), { now: () => time }, async ({ open, parked }) => {
      const guest = open('dies');
      expect(await outcome(guest.invoke(run()))).to.equal('crash');
      expect(await outcome(guest.invoke(run()))).to.equal('crash');
      expect(guest.state()).to.equal('waiting');
      expect(await outcome(guest.invoke(run()))).to.equal('busy');
      time += BOUNDS.firstDelay;
      expect(guest.state()).to.equal('idle');
      expect(await outcome(guest.invoke(run(8)))).to.equal('8');
      expect(parked).to.deep.equal([]);
    });
  });

  it('fails all that is in flight, and retries nothing', () => {
    const seen: string[] = [];
    return withGround(
      fakeLauncher({
        dies: doing((child, _id, body) => {
          seen.push(body);
          if (seen.length === 3) child.die();
        }),
      }),
      {},
      async ({ open }) => {
        const guest = open('dies');
        const codes = await Promise.all([1, 2, 3].map((at) => outcome(guest.invoke(run(at)))));
        expect(codes).to.deep.equal(['crash', 'crash', 'crash']);
        expect(seen).to.deep.equal(['1', '2', '3']);
      },
    );
  });

  it('parks once after too many, says why, and starts anew when told to', () => {
    const count = { left: 5 };
    return withGround(
      fakeLauncher({
        dies: doing((child, id, body) =>
          count.left-- > 0 ? child.die({ memory: true }) : child.say({ type: 'result', id }, body),
        ),
      }),
      { bounds: { firstDelay: 1 } },
      async ({ open, parked }) => {
        const guest = open('dies');
        for (let at = 0; at < 5; at++) {
          expect(await outcome(guest.invoke(run()))).to.equal('crash');
          await until(() => guest.state() !== 'waiting');
        }
        expect(guest.state()).to.equal('parked');
        expect(await outcome(guest.invoke(run()))).to.equal('crash');
        await until(() => parked.length > 0);
        expect(parked).to.have.length(1);
        expect(parked[0]).to.match(/used more memory/);
        guest.restart();
        expect(guest.state()).to.equal('idle');
        expect(await outcome(guest.invoke(run(1)))).to.equal('1');
      },
    );
  });

  it('parks a program whose invocations use up their CPU time again and again; waiting is no fault', () => {
    const burning = doing((child, id) => child.say({ type: 'failure', id, code: 'timeout' }));
    const idling = doing((child, id) =>
      setTimeout(() => child.say({ type: 'failure', id, code: 'timeout' }), LONG * 0.97),
    );
    const LONG = 2000;
    const options = { bounds: { together: 0 }, limits: { wall: LONG } };
    return withGround(fakeLauncher({ burning, idling }), options, async ({ open, parked }) => {
      const guest = open('burning');
      for (let at = 0; at < 20; at++) expect(await outcome(guest.invoke(run()))).to.equal('cpu-limit');
      expect(guest.state()).to.equal('parked');
      expect(parked[0]).to.match(/CPU time/);
      const other = open('idling');
      await Promise.all(Array.from({ length: 30 }, () => outcome(other.invoke(run()))));
      expect(other.state()).to.equal('running');
    });
  });

  it('counts a script that cannot be evaluated', () =>
    withGround(
      fakeLauncher({ bad: (child) => child.say({ type: 'refused', code: 'invalid-entry' }) }),
      {},
      async ({ open }) => {
        const guest = open('bad');
        expect(await outcome(guest.invoke(run()))).to.equal('invalid-entry');
        expect(await outcome(guest.invoke(run()))).to.equal('invalid-entry');
        expect(guest.state()).to.equal('waiting');
      },
    ));
});
