import type { Db, Migration } from '../../database/contract.ts';
import { PermanentJobError } from '../../queue/library.ts';
import type { SecretCipher } from '../../secrets/contract.ts';
import { RunBreak } from './run-break.ts';
import { createRunState, type RunState, type RunStateEntries } from './run-state.ts';

const TABLE = 'platform_flow_run_states';
/** What a sealed entry is bound to. */
const SEALED_KIND = 'state of a flow run';
/** Entries beside those of operations: the trigger; that a job goes on with the run; that the run has ended. */
const TRIGGER = '~trigger';
const JOB = '~job';
const END = '~end';

/** Creates the table of states. It is not served: entries hold what operations answered, secrets included. */
export function createRunStatesMigration(db: Db): Migration {
  const states = db.own(TABLE);
  return {
    id: '2026-11-27-flow-run-states',
    up: () =>
      db.ddl(
        db.sql`create table ${states} (run uuid not null, path text not null, flow uuid not null, content text not null, at timestamptz not null default now(), primary key (run, path))`,
      ),
  };
}

/** A run whose state is stored, or can be. */
export interface StoredRun {
  readonly state: RunState;
  /** Whether it ended in a process that died before it said so. */
  readonly isEnded: boolean;
  /** Whether a job goes on with it. */
  readonly hasJob: boolean;
  /** The trigger that `handOver` stored. */
  readonly trigger: unknown;
  /** Deletes the state, and remembers for a day that the run has ended. */
  end(): Promise<void>;
  /** Stores the state for a job, which `add` adds in the same transaction. @throws RunBreak where another process has done so. */
  handOver(trigger: unknown, add: () => Promise<unknown>): Promise<void>;
}

export interface RunStates {
  /**
   * Reads the state of a run, which is stored from now on with each operation that ends.
   * @throws PermanentJobError where it was stored with another SECRETS_ENCRYPTION_KEY.
   */
  open(run: string, flow: string): Promise<StoredRun>;
  /** The state of a new run, kept in memory until `handOver`. */
  create(run: string, flow: string): StoredRun;
  /** Deletes the state of a run that was cancelled. */
  forget(run: string): Promise<void>;
  /** Deletes what ended runs, and runs without any progress for two months, have left behind. */
  deleteOld(): Promise<void>;
}

interface Deps {
  readonly db: Db;
  readonly secrets: SecretCipher;
}

/** The states of runs in the database, encrypted where SECRETS_ENCRYPTION_KEY is set. */
export function createRunStates({ db, secrets }: Deps): RunStates {
  const states = db.own(TABLE);
  const READ = db.sql`select path, content from ${states} where run = $1`;
  const ADD = db.sql`insert into ${states} (run, path, flow, content) values ($1, $2, $3, $4) on conflict do nothing`;
  const SET = db.sql`insert into ${states} (run, path, flow, content) values ($1, $2, $3, $4)
    on conflict (run, path) do update set content = excluded.content, at = now()`;
  const END_RUN = db.sql`with gone as (delete from ${states} where run = $1 and path <> '~end')
    insert into ${states} (run, path, flow, content) values ($1, '~end', $2, '') on conflict do nothing`;
  const FORGET = db.sql`delete from ${states} where run = $1`;
  const DELETE_OLD = db.sql`delete from ${states} s where s.path = '~end' and s.at < now() - interval '1 day'
    or not exists (select from ${db.read('platform_flows')} f where f.id = s.flow)
    or not exists (select from ${states} o where o.run = s.run and o.at > now() - interval '61 days')`;

  const seal = (content: unknown): string => {
    const text = JSON.stringify(content);
    return secrets.available() ? secrets.seal(SEALED_KIND, text) : text;
  };

  function unseal(text: string): unknown {
    if (text === '') return true;
    if (!secrets.isSealed(text)) return JSON.parse(text);
    const opened = secrets.open(SEALED_KIND, text);
    if (opened === undefined)
      throw new PermanentJobError('the state of the run was stored with another SECRETS_ENCRYPTION_KEY');
    return JSON.parse(opened);
  }

  function createRun(run: string, flow: string, known: Map<string, unknown>, isStored: boolean): StoredRun {
    const write = (statement: typeof ADD, path: string, content: unknown) =>
      db.query(statement, [run, path, flow, content === true ? '' : seal(content)]).catch((error) => {
        throw new RunBreak('the state of the run could not be stored', { cause: error });
      });
    const entries: RunStateEntries = {
      isStored,
      get: (path) => known.get(path),
      async add(path, content) {
        if (isStored && (await write(ADD, path, content)).count === 0)
          throw new RunBreak('another process goes on with the run');
        known.set(path, content);
      },
      async set(path, content) {
        if (isStored) await write(SET, path, content);
        known.set(path, content);
      },
    };
    return {
      state: createRunState(entries),
      isEnded: known.has(END),
      hasJob: known.has(JOB),
      trigger: known.get(TRIGGER),
      async end() {
        if (isStored) await db.query(END_RUN, [run, flow]);
      },
      handOver: (trigger, add) =>
        db.transaction(async () => {
          if ((await write(ADD, JOB, true)).count === 0)
            throw new RunBreak('another process has added the job of the run');
          if (!isStored) for (const [path, content] of known) await write(ADD, path, content);
          await write(ADD, TRIGGER, trigger);
          await add();
        }),
    };
  }

  return {
    async open(run, flow) {
      const { rows } = await db.query<{ path: string; content: string }>(READ, [run]);
      return createRun(run, flow, new Map(rows.map(({ path, content }) => [path, unseal(content)])), true);
    },
    create: (run, flow) => createRun(run, flow, new Map(), false),
    async forget(run) {
      await db.query(FORGET, [run]);
    },
    async deleteOld() {
      await db.query(DELETE_OLD);
    },
  };
}
