import { expect } from 'chai';
import type { Db } from '../../../plugins/database/contract.ts';
import { recordStatementsDuring } from '../../support/capture-sql-statements.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createPluginWithDatabaseGrant, startTestKernel, type TestKernel } from './test-kernel.ts';

describe('db.transaction', () => {
  let testKernel: TestKernel;
  let db: Db;
  before(async () => {
    testKernel = await startTestKernel(
      [
        createPluginWithDatabaseGrant(
          { own: ['notes'], sql: 'tests run any statement', ddl: true },
          (host) => void (db = host.db),
        ),
      ],
      {
        environment: { DB_POOL_MAX: '3' },
      },
    );
    await testKernel.database.query('create table notes (id serial primary key, text text unique)');
  });
  after(() => testKernel?.stop());
  beforeEach(() => testKernel.database.query('truncate notes'));

  const add = (text: string) => db.table('notes').insert({ text });
  /** The committed texts of the table, read over another connection. */
  const kept = async () =>
    (await testKernel.database.query<{ text: string }>('select text from notes order by text')).map(({ text }) => text);

  it('a unit of work commits its statements together and answers the result of the work', async () => {
    const answer = await db.transaction(async () => {
      await add('a');
      await db.query('insert into notes (text) values ($1)', ['b']);
      expect(await kept()).to.deep.equal([]);
      return 7;
    });
    expect([answer, await kept()]).to.deep.equal([7, ['a', 'b']]);
  });

  it('a unit of work that fails writes nothing', async () => {
    const failed = await captureError(
      db.transaction(async () => {
        await add('a');
        throw new Error('on purpose');
      }),
    );
    expect([failed.message, await kept()]).to.deep.equal(['on purpose', []]);
  });

  it('a nested unit of work runs on the connection of the outer one and is rolled back with it', async () => {
    await captureError(
      db.transaction(async () => {
        const pid = async () => (await db.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
        const outer = await pid();
        await db.transaction(async () => {
          expect(await pid()).to.equal(outer);
          await add('inner');
        });
        throw new Error('on purpose');
      }),
    );
    expect(await kept()).to.deep.equal([]);
  });

  it('a unit of work fails where a nested one failed, even where the caller caught the error', async () => {
    const failed = await captureError(
      db.transaction(async () => {
        await db
          .transaction(async () => {
            await add('inner');
            throw new Error('inner failure');
          })
          .catch(() => {});
        await add('outer');
      }),
    );
    expect([failed.message, await kept()]).to.deep.equal(['inner failure', []]);
  });

  it('a unit of work fails where a failed statement was ignored and PostgreSQL rolled back', async () => {
    const failed = await captureError(
      db.transaction(async () => {
        await add('a');
        await db.query('select 1/0').catch(() => {});
      }),
    );
    expect(failed.message).to.contain('rolled back');
    expect(await kept()).to.deep.equal([]);
  });

  it('concurrent statements of a unit of work run one after the other', async () => {
    await db.transaction(() =>
      Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 ? add(`${at}`) : db.query('select 1')))),
    );
    expect(await kept()).to.have.length(10);
  });

  it('a statement after the rollback of its unit of work fails', async () => {
    let late: Promise<unknown> | undefined;
    let rolledBack = () => {};
    const gate = new Promise<void>((resolve) => (rolledBack = resolve));
    await captureError(
      db.transaction(async () => {
        late = gate.then(() => add('late'));
        late.catch(() => {});
        throw new Error('on purpose');
      }),
    );
    rolledBack();
    expect((await captureError(late as Promise<unknown>)).message).to.contain('after its unit of work');
    expect(await kept()).to.deep.equal([]);
  });

  it('concurrent units of work stay separate, with more of them than connections', async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        db
          .transaction(async () => {
            await add(`${at}`);
            await db.query('select pg_sleep(0.01)');
            if (at % 3 === 0) throw new Error('on purpose');
          })
          .catch(() => {}),
      ),
    );
    expect(await kept()).to.have.length(8);
  });

  describe('db.afterCommit and db.answerAfter', () => {
    it('an after-commit effect runs after the commit of the outermost unit', async () => {
      const seen: string[] = [];
      await db.transaction(async () => {
        await db.transaction(async () => {
          db.afterCommit(() => seen.push('effect'));
        });
        seen.push('work ends');
      });
      expect(seen).to.deep.equal(['work ends', 'effect']);
    });

    it('an after-commit effect never runs after a rollback, and at once without a unit', async () => {
      const seen: string[] = [];
      await captureError(
        db.transaction(async () => {
          db.afterCommit(() => seen.push('never'));
          throw new Error('on purpose');
        }),
      );
      db.afterCommit(() => seen.push('now'));
      expect(seen).to.deep.equal(['now']);
    });

    it('a wait of answerAfter runs once after the effects, before the unit resolves, and never after a rollback', async () => {
      const seen: string[] = [];
      const wait = async () => {
        seen.push('wait begins');
        await db.query('select 1');
        seen.push('wait ends');
      };
      await db.transaction(async () => {
        db.answerAfter(wait);
        await db.transaction(async () => db.answerAfter(wait));
        db.answerAfter(() => Promise.reject(new Error('on purpose')));
        db.afterCommit(() => seen.push('effect'));
      });
      seen.push('answer');
      expect(seen).to.deep.equal(['effect', 'wait begins', 'wait ends', 'answer']);
      await captureError(
        db.transaction(async () => {
          db.answerAfter(wait);
          throw new Error('on purpose');
        }),
      );
      db.answerAfter(wait);
      expect(seen).to.have.length(4);
    });

    it('an after-commit effect runs outside the unit, and one that throws is logged and stops no other', async () => {
      const seen: unknown[] = [];
      let written: Promise<unknown> | undefined;
      await db.transaction(async () => {
        db.afterCommit(() => {
          throw new Error('on purpose');
        });
        db.afterCommit(() => (written = Promise.resolve(add('from effect'))));
        db.afterCommit(() => seen.push('last'));
      });
      await written;
      expect([seen, await kept()]).to.deep.equal([['last'], ['from effect']]);
      expect(testKernel.log.some(({ msg }) => msg === 'an effect after commit failed')).to.equal(true);
    });
  });

  describe('a unit of work with one statement', () => {
    /** The first words of the statements that PostgreSQL received while `work` ran. */
    const received = async (work: () => Promise<unknown>): Promise<readonly string[]> =>
      (await recordStatementsDuring(work)).map((text) => text.slice(0, 6));
    const last = (text: string, name?: string) =>
      db.query('insert into notes (text) values ($1)', [text], { last: true, ...(name ? { name } : {}) });

    it('a single statement runs without begin and commit, and a unit without statements sends nothing', async () => {
      expect(await received(() => db.transaction(async () => 7))).to.deep.equal([]);
      expect(await received(() => db.transaction(() => last('a')))).to.deep.equal(['insert']);
      expect(await kept()).to.deep.equal(['a']);
    });

    it('a last statement after another one runs in a transaction', async () => {
      const texts = await received(() =>
        db.transaction(async () => {
          await db.query('select 1');
          await last('a');
        }),
      );
      expect(texts).to.deep.equal(['begin', 'select', 'insert', 'commit']);
    });

    it('a last statement of a nested unit runs in the transaction of the outer one', async () => {
      const failed = await captureError(
        db.transaction(async () => {
          await db.transaction(() => last('a'));
          await db.transaction(() => last('b'));
          throw new Error('on purpose');
        }),
      );
      expect([failed.message, await kept()]).to.deep.equal(['on purpose', []]);
    });

    it('an after-commit effect runs after a single statement, and never where it failed', async () => {
      const seen: string[] = [];
      await db.transaction(async () => {
        db.afterCommit(() => seen.push('effect'));
        await last('a');
        db.afterCommit(() => seen.push('another'));
        seen.push('work ends');
      });
      expect(seen).to.deep.equal(['work ends', 'effect', 'another']);
      await captureError(
        db.transaction(async () => {
          db.afterCommit(() => seen.push('never'));
          await last('a');
        }),
      );
      expect(seen).to.have.length(3);
    });

    it('a unit fails where the caller caught the failure of its single statement', async () => {
      await add('a');
      const failed = await captureError(db.transaction(() => last('a').catch(() => {})));
      expect(failed).to.include({ code: '23505' });
    });

    it('a statement after the last one of its unit fails', async () => {
      const failed = await captureError(
        db.transaction(async () => {
          await last('a');
          await add('b');
        }),
      );
      expect([failed.message.includes('after the last one'), await kept()]).to.deep.equal([true, ['a']]);
    });

    it('a single statement with an outdated plan runs again', async () => {
      await testKernel.database.query('create table if not exists shapes (n int)');
      const read = () => db.transaction(() => db.query('select * from shapes', [], { name: 'shapes', last: true }));
      await Promise.all([read(), read(), read()]);
      await testKernel.database.query('alter table shapes add column more int');
      await Promise.all([read(), read(), read()]);
      await testKernel.database.query('drop table shapes');
    });
  });

  it('a unit fails where its connection breaks, and the next one works', async () => {
    const failed = await captureError(
      db.transaction(async () => {
        await add('a');
        const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
        await testKernel.database.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
        await add('b');
      }),
    );
    expect(failed).to.be.instanceOf(Error);
    await add('c');
    expect(await kept()).to.deep.equal(['c']);
  });
});
