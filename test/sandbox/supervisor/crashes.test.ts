import { expect } from 'chai';
import { DEFAULT_SUPERVISOR_BOUNDS } from '../../../sandbox/host/supervisor/bounds.ts';
import { CrashRecord } from '../../../sandbox/host/supervisor/crash-record.ts';
import { behaviourOnInvoke, createFakeLauncher } from './fake-launcher.ts';
import {
  createTestScriptInvocation,
  getInvocationOutcome,
  waitForCondition,
  withSupervisor,
} from './supervisor-fixture.ts';

describe('Stability: restart delays and parking', () => {
  const stability = () => {
    let time = 0;
    const one = new CrashRecord({ ...DEFAULT_SUPERVISOR_BOUNDS, crashWindow: 1 }, () => time);
    return { one, pass: (milliseconds: number) => (time += milliseconds) };
  };

  it('the first restart is immediate, and each further delay doubles up to 30 seconds', () => {
    const { one, pass } = stability();
    const waits: number[] = [];
    for (let at = 0; at < 12; at++) {
      one.recordCrash();
      waits.push(one.wait());
      pass(one.wait() + 1);
    }
    expect(waits).to.deep.equal([0, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000]);
  });

  it('a minute of good service resets the delay, a minute of waiting does not', () => {
    const { one, pass } = stability();
    for (let at = 0; at < 4; at++) one.recordCrash();
    pass(120_000);
    one.recordCrash();
    expect(one.wait()).to.equal(800);
    one.recordServing();
    pass(60_000);
    one.recordCrash();
    expect(one.wait()).to.equal(0);
  });

  it('a program is parked after five crashes or twenty exhausted invocations within a minute', () => {
    let time = 0;
    for (const [times, method] of [
      [5, 'recordCrash'],
      [20, 'recordExhaustion'],
    ] as const) {
      const one = new CrashRecord(DEFAULT_SUPERVISOR_BOUNDS, () => (time += 100));
      const parked = Array.from({ length: times + 2 }, () => one[method]());
      expect(parked.indexOf(true)).to.equal(times - 1);
      expect(parked.filter(Boolean)).to.have.length(1);
      one.restart();
      expect([one.isParked, one.wait()]).to.deep.equal([false, 0]);
    }
    const together = new CrashRecord(DEFAULT_SUPERVISOR_BOUNDS, () => 0);
    for (let at = 0; at < 64; at++) expect(together.recordExhaustion()).to.equal(false);
  });

  it('crashes older than the crash window do not count', () => {
    let time = 0;
    const one = new CrashRecord(DEFAULT_SUPERVISOR_BOUNDS, () => time);
    for (let at = 0; at < 50; at++) {
      expect(one.recordCrash()).to.equal(false);
      time += 15_001;
    }
  });
});

describe('supervisor: crashes of a program', () => {
  const dying = (count: { left: number }) =>
    behaviourOnInvoke((child, id, body) => (count.left-- > 0 ? child.die() : child.send({ type: 'result', id }, body)));

  it('a program restarts at once after its first crash and is busy during the delay after the second', () => {
    const count = { left: 2 };
    let time = 0;
    return withSupervisor(createFakeLauncher({ dies: dying(count) }), { now: () => time }, async ({ open, parked }) => {
      const guest = open('dies');
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('crash');
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('crash');
      expect(guest.state()).to.equal('waiting');
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('busy');
      time += DEFAULT_SUPERVISOR_BOUNDS.firstDelay;
      expect(guest.state()).to.equal('idle');
      expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(8)))).to.equal('8');
      expect(parked).to.deep.equal([]);
    });
  });

  it('a crash fails all invocations in flight, and the supervisor retries none', () => {
    const seen: string[] = [];
    return withSupervisor(
      createFakeLauncher({
        dies: behaviourOnInvoke((child, _id, body) => {
          seen.push(body);
          if (seen.length === 3) child.die();
        }),
      }),
      {},
      async ({ open }) => {
        const guest = open('dies');
        const codes = await Promise.all(
          [1, 2, 3].map((at) => getInvocationOutcome(guest.invoke(createTestScriptInvocation(at)))),
        );
        expect(codes).to.deep.equal(['crash', 'crash', 'crash']);
        expect(seen).to.deep.equal(['1', '2', '3']);
      },
    );
  });

  it('a program with too many crashes is parked once with a reason, and restart() starts it again', () => {
    const count = { left: 5 };
    return withSupervisor(
      createFakeLauncher({
        dies: behaviourOnInvoke((child, id, body) =>
          count.left-- > 0 ? child.die({ isOutOfMemory: true }) : child.send({ type: 'result', id }, body),
        ),
      }),
      { bounds: { firstDelay: 1 } },
      async ({ open, parked }) => {
        const guest = open('dies');
        for (let at = 0; at < 5; at++) {
          expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('crash');
          await waitForCondition(() => guest.state() !== 'waiting');
        }
        expect(guest.state()).to.equal('parked');
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('crash');
        await waitForCondition(() => parked.length > 0);
        expect(parked).to.have.length(1);
        expect(parked[0]).to.match(/used more memory/);
        guest.restart();
        expect(guest.state()).to.equal('idle');
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation(1)))).to.equal('1');
      },
    );
  });

  it('a program whose invocations exhaust their CPU time repeatedly is parked; invocations that only wait do not count', () => {
    const burning = behaviourOnInvoke((child, id) => child.send({ type: 'failure', id, code: 'timeout' }));
    const idling = behaviourOnInvoke((child, id) =>
      setTimeout(() => child.send({ type: 'failure', id, code: 'timeout' }), LONG * 0.97),
    );
    const LONG = 2000;
    const options = { bounds: { incidentWindow: 0 }, limits: { wall: LONG } };
    return withSupervisor(createFakeLauncher({ burning, idling }), options, async ({ open, parked }) => {
      const guest = open('burning');
      for (let at = 0; at < 20; at++)
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('cpu-limit');
      expect(guest.state()).to.equal('parked');
      expect(parked[0]).to.match(/CPU time/);
      const other = open('idling');
      await Promise.all(
        Array.from({ length: 30 }, () => getInvocationOutcome(other.invoke(createTestScriptInvocation()))),
      );
      expect(other.state()).to.equal('running');
    });
  });

  it('a script that cannot be evaluated counts as a crash', () =>
    withSupervisor(
      createFakeLauncher({ bad: (child) => child.send({ type: 'refused', code: 'invalid-entry' }) }),
      {},
      async ({ open }) => {
        const guest = open('bad');
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('invalid-entry');
        expect(await getInvocationOutcome(guest.invoke(createTestScriptInvocation()))).to.equal('invalid-entry');
        expect(guest.state()).to.equal('waiting');
      },
    ));
});
