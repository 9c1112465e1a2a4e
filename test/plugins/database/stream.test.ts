import { expect } from 'chai';
import type { Db } from '../../../plugins/database/contract.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createPluginWithDatabaseGrant, startTestKernel, type TestKernel } from './test-kernel.ts';

async function allOf(batches: AsyncIterable<readonly string[]>): Promise<string[]> {
  const rows: string[] = [];
  for await (const batch of batches) rows.push(...batch);
  return rows;
}

describe('db.stream', () => {
  let testKernel: TestKernel;
  let db: Db;
  let others: Db;
  before(async () => {
    testKernel = await startTestKernel(
      [
        createPluginWithDatabaseGrant({ sql: 'tests run any statement' }, (host) => void (db = host.db)),
        createPluginWithDatabaseGrant({ own: ['things'] }, (host) => void (others = host.db), { name: 'modest' }),
      ],
      { environment: { DB_POOL_MAX: '4' } },
    );
  });
  after(() => testKernel?.stop());

  const numbers = (to: number) => `select n::text from generate_series(1, ${to}) n where n > $1`;
  const open = async () => {
    const rows = await testKernel.database.query<{ n: number }>(
      "select count(*)::int n from pg_stat_activity where application_name = 'tenon' and datname = current_database() and state = 'idle in transaction'",
    );
    return rows[0]?.n;
  };

  it('a stream answers all rows in order, in batches', async () => {
    const batches: (readonly string[])[] = [];
    for await (const batch of db.stream(numbers(5002), [2])) batches.push(batch);
    expect(batches.length).to.be.above(2);
    expect(batches.flat()).to.deep.equal(Array.from({ length: 5000 }, (_, at) => String(at + 3)));
    for await (const batch of db.stream(numbers(0), [0])) expect.fail(`there is a batch: ${batch}`);
    expect(await open()).to.equal(0);
  });

  it('a stream of large rows fetches fewer rows for each batch', async () => {
    const sizes: number[] = [];
    for await (const { length } of db.stream("select repeat('x', 100000) from generate_series(1, 110)"))
      sizes.push(length);
    expect(sizes).to.deep.equal([100, 2, 2, 2, 2, 2]);
  });

  it('a stream that is left or fails gives its connection back', async () => {
    for await (const batch of db.stream(numbers(5000), [0])) {
      expect(await open()).to.equal(1);
      expect(batch.length).to.be.above(0);
      break;
    }
    expect(await open()).to.equal(0);
    const late = db.stream('select (1 / (n - 3000))::text from generate_series(1, 5000) n');
    const error = await captureError<{ code: string }>(allOf(late));
    expect(error.code).to.equal('22012');
    expect((await captureError<{ code: string }>(db.stream('select nothing').next())).code).to.equal('42703');
    expect(await open()).to.equal(0);
    expect((await db.query('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
  });

  it('streams take at most half of the pool, and the next one waits', async () => {
    const streams = [1, 2, 3].map(() => db.stream(numbers(5000), [0]));
    await streams[0]?.next();
    await streams[1]?.next();
    const leave = new AbortController();
    const gone = db.stream(numbers(5000), [0], { signal: leave.signal }).next();
    const third = streams[2]?.next();
    expect(await open()).to.equal(2);
    leave.abort(new Error('no longer wanted'));
    expect((await captureError(gone)).message).to.equal('no longer wanted');
    await streams[0]?.return();
    expect((await third)?.done).to.equal(false);
    await Promise.all(streams.map((one) => one.return()));
    expect(await open()).to.equal(0);
  });

  it('a stream is cancelled when its signal aborts', async () => {
    const leave = new AbortController();
    const rows = db.stream('select pg_sleep(50)::text', [], { signal: leave.signal }).next();
    setTimeout(() => leave.abort(new Error('no longer wanted')), 100);
    const started = Date.now();
    expect((await captureError(rows)).message).to.equal('no longer wanted');
    expect(Date.now() - started).to.be.below(40_000);
    expect(await open()).to.equal(0);
  });

  it('a stream fails inside a unit of work and without the grant', async () => {
    const error = await captureError(db.transaction(() => db.stream(numbers(1), [0]).next()));
    expect(error.message).to.match(/unit of work/);
    expect((await captureError(() => others.stream('select 1'))).message).to.match(/does not grant it/);
    expect((await db.query('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
  });
});

describe('db.query with a signal', () => {
  let testKernel: TestKernel;
  let db: Db;
  before(async () => {
    testKernel = await startTestKernel(
      [createPluginWithDatabaseGrant({ sql: 'tests run any statement' }, (host) => void (db = host.db))],
      {
        environment: { DB_POOL_MAX: '1' },
      },
    );
  });
  after(() => testKernel?.stop());

  it('an aborted statement fails with the reason, and the next one on its connection runs', async () => {
    for (let round = 0; round < 20; round++) {
      const leave = new AbortController();
      // Sleeps of 40 to 59 ms, so that some statements end just when they are cancelled.
      const slow = db.query(`select pg_sleep(${0.04 + round / 1000})`, [], { signal: leave.signal });
      setTimeout(() => leave.abort(new Error('no longer wanted')), 45);
      const outcome = await slow.then(
        () => 'done',
        (error: Error) => error.message,
      );
      expect(outcome).to.be.oneOf(['done', 'no longer wanted']);
      expect((await db.query('select pg_sleep(0.01), 1 as one')).rows[0]).to.include({ one: 1 });
    }
  });

  it('a statement inside a unit of work ignores its signal', async () => {
    const leave = new AbortController();
    setTimeout(() => leave.abort(), 10);
    const { count } = await db.transaction(() => db.query('select pg_sleep(0.2)', [], { signal: leave.signal }));
    expect([count, leave.signal.aborted]).to.deep.equal([1, true]);
  });
});
