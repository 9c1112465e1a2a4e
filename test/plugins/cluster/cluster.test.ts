import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Host } from '#kernel';
import {
  bus,
  type InterProcessBus,
  type InterProcessLock,
  lock,
  type ProcessPresence,
  presence,
} from '../../../plugins/cluster/contract.ts';
import type { Db } from '../../../plugins/database/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { createPluginWithDatabaseGrant, startTestKernel, type TestKernel } from '../database/test-kernel.ts';

interface Member {
  readonly ground: TestKernel;
  readonly bus: InterProcessBus;
  readonly lock: InterProcessLock;
  readonly presence: ProcessPresence;
  readonly db: Db;
}

async function join(database: FreshDatabase): Promise<Member> {
  let parts: Omit<Member, 'ground'> | undefined;
  const receive = (host: Host) => {
    parts = { ...host.use({ bus, lock, presence }), db: host.db };
  };
  const uses = { bus: '^1.0.0', lock: '^1.0.0', presence: '^1.0.0' };
  const ground = await startTestKernel(
    [createPluginWithDatabaseGrant({ sql: 'tests run any statement' }, receive, { uses })],
    {
      database,
    },
  );
  return { ground, ...(parts as Omit<Member, 'ground'>) };
}

describe('two processes on one database', () => {
  let database: FreshDatabase;
  let a: Member;
  let b: Member;
  beforeEach(async () => {
    database = await freshDatabase('ground');
    [a, b] = await Promise.all([join(database), join(database)]);
  });
  afterEach(async () => {
    await Promise.all([a.ground.stop(), b.ground.stop()]);
    await database.drop();
  });

  const received = (member: Member, channel: string): unknown[] => {
    const list: unknown[] = [];
    member.bus.subscribe(channel, (payload) => void list.push(payload));
    return list;
  };

  it('bus.publish() reaches both processes, the sender included, on its channel only', async () => {
    const [here, there, other] = [received(a, 'x'), received(b, 'x'), received(b, 'y')];
    await a.bus.publish('x', { text: `it's "ä"` });
    await a.bus.publish('y', null);
    await until(() => here.length > 0 && other.length > 0);
    expect([here, there, other]).to.deep.equal([[{ text: `it's "ä"` }], [{ text: `it's "ä"` }], [null]]);
  });

  it('bus.publish() in a unit of work delivers after commit, and never after a rollback', async () => {
    const there = received(b, 'x');
    await captureError(
      a.db.transaction(async () => {
        await a.bus.publish('x', 'undone');
        throw new Error('on purpose');
      }),
    );
    await a.db.transaction(async () => {
      await a.bus.publish('x', 'done');
      await b.bus.publish('x', 'between');
      await until(() => there.length > 0);
    });
    await until(() => there.length > 1);
    expect(there).to.deep.equal(['between', 'done']);
  });

  it('waitForConfirmation() resolves after both processes have handled all committed messages', async () => {
    const there = received(b, 'x');
    for (let round = 0; round < 50; round++) {
      const other = a.bus.publish('x', `other ${round}`);
      await a.db.transaction(async () => {
        await a.bus.publish('x', round);
        a.db.answerAfter(a.bus.waitForConfirmation);
        a.db.answerAfter(a.bus.waitForConfirmation);
      });
      expect(there).to.include(round);
      await other;
    }
    await Promise.all([a.bus.publish('x', 'last'), a.bus.publish('x', 'first')]);
    await Promise.all([a.bus.waitForConfirmation(), a.bus.waitForConfirmation(), b.bus.waitForConfirmation()]);
    expect(there).to.include('last').and.include('first');
  });

  it('waitForConfirmation() works with full pools and does not wait for stopped processes', async () => {
    const there = received(b, 'x');
    await a.bus.publish('x', 1);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holders = Array.from({ length: 10 }, () =>
      b.db.transaction(async () => {
        await b.db.query('select 1');
        await held;
      }),
    );
    await a.bus.waitForConfirmation();
    expect(there).to.deep.equal([1]);
    release();
    await Promise.all(holders);
    await b.ground.stop();
    await a.bus.waitForConfirmation();
    expect(a.ground.log.map(({ msg }) => String(msg)).filter((msg) => msg.includes('did not confirm'))).to.deep.equal(
      [],
    );
  });

  it('the bus survives a failing subscriber and rejects messages that are too large', async () => {
    b.bus.subscribe('x', () => {
      throw new Error('on purpose');
    });
    const there = received(b, 'x');
    await a.bus.publish('x', 1);
    await until(() => there.length > 0);
    expect((await captureError(a.bus.publish('x', 'x'.repeat(8000)))).message).to.contain('larger than');
  });

  it('onReconnect handlers run after a lost connection, and messages arrive again', async () => {
    const there = received(b, 'x');
    let gaps = 0;
    b.bus.onReconnect(() => gaps++);
    await database.query(LISTENERS);
    await until(() => gaps === 1);
    await a.bus.publish('x', 'after');
    await until(() => there.length > 0);
    expect(there).to.deep.equal(['after']);
  });

  it('lock.run() runs work under one lock one after the other', async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await pause(5);
      inside--;
      return 'done';
    };
    const answers = await Promise.all([a, b, a, b, a, b].map((member) => member.lock.run('one', work)));
    expect([most, answers.length, answers[0]]).to.deep.equal([1, 6, 'done']);
  });

  it('lock.run() does not wait for other names, for its own lock, or for work that failed', async () => {
    const answer = await a.lock.run('one', () => b.lock.run('two', () => a.lock.run('one', async () => 'inner')));
    expect(answer).to.equal('inner');
    const failed = await captureError(
      a.lock.run('one', async () => {
        throw new Error('on purpose');
      }),
    );
    expect(failed.message).to.equal('on purpose');
    expect(await b.lock.run('one', async () => 'free')).to.equal('free');
  });

  it('lock.run() gets the lock of a process that died', async () => {
    let release: (() => void) | undefined;
    const dead = a.lock.run('one', () => new Promise<void>((resolve) => (release = resolve)));
    await until(() => release !== undefined);
    const waiting = b.lock.run('one', async () => 'mine');
    // Terminates the connection that holds the lock, as the death of its process would.
    for (let cut = 0; cut === 0; ) {
      cut = (
        await database.query(
          `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`,
        )
      ).length;
    }
    expect(await waiting).to.equal('mine');
    release?.();
    await dead;
  });

  it('lock.attempt() returns undefined at once while the lock is held, and runs when it is free', async () => {
    let release: (() => void) | undefined;
    const held = a.lock.attempt('one', () => new Promise<string>((resolve) => (release = () => resolve('done'))));
    await until(() => release !== undefined);
    const refused = await Promise.all([a.lock.attempt('one', never), b.lock.attempt('one', never)]);
    expect(refused).to.deep.equal([undefined, undefined]);
    expect(await b.lock.attempt('two', async () => 'other')).to.deep.equal({ value: 'other' });
    release?.();
    expect(await held).to.deep.equal({ value: 'done' });
    expect(await b.lock.attempt('one', async () => 'next')).to.deep.equal({ value: 'next' });
    const failed = await captureError(a.lock.attempt('one', () => Promise.reject(new Error('on purpose'))));
    expect(failed.message).to.equal('on purpose');
    expect(await b.lock.attempt('one', async () => 'free')).to.deep.equal({ value: 'free' });
  });

  it('presence.findDead() finds processes that stopped or lost their connection', async () => {
    const unknownId = '7d1c9d2e-0f5f-4f0c-8f5f-0d5b1f1c2a3b';
    const all = [a.presence.id, b.presence.id, unknownId];
    expect(await a.presence.findDead(all)).to.deep.equal([unknownId]);
    await b.ground.stop();
    expect(await a.presence.findDead(all)).to.have.members([b.presence.id, unknownId]);
  });

  it('presence, locks and messages work again after connections broke', async () => {
    const there = received(b, 'x');
    const gaps: string[] = [];
    a.bus.onReconnect(() => void gaps.push('a'));
    b.bus.onReconnect(() => void gaps.push('b'));
    await database.query(LISTENERS);
    await until(() => gaps.length === 2);
    expect(await a.presence.findDead([b.presence.id])).to.deep.equal([]);
    expect(await a.lock.attempt('one', async () => 'mine')).to.deep.equal({ value: 'mine' });
    await a.bus.publish('x', 'again');
    await until(() => there.length > 0);
    expect(there).to.deep.equal(['again']);
  });
});

/** Terminates the connections on which the processes LISTEN, which also hold their presence locks. */
const LISTENERS = `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
  and database = (select oid from pg_database where datname = current_database())`;

const never = (): Promise<never> => Promise.reject(new Error('this must not run'));
