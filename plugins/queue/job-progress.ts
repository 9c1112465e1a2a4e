import type { Db, Migration } from '../database/contract.ts';

const PROGRESS = 'platform_queue_progress';

/** Milliseconds between two writes of one job's progress. */
const WRITE_INTERVAL = 1000;

const MAX_TEXT = 1000;

/** The migration that creates the table with how far each running job is. */
export function createJobProgressMigration(db: Db): Migration {
  const progress = db.own(PROGRESS);
  return {
    id: '2026-11-26-queue-progress',
    up: () =>
      db.ddl(
        db.sql`create table ${progress} (job uuid primary key, share real not null, text text, at timestamptz not null default now())`,
      ),
  };
}

/** Records the progress of one run: the newest of several calls within a second is written. */
export interface JobProgressRecorder {
  record(share: number, text?: string): void;
  /** Forgets what is not written yet; resolves when a write under way has ended. */
  end(): Promise<void>;
}

export type CreateJobProgressRecorder = (job: string) => JobProgressRecorder;

/** A failed write is left out: progress is for admins who watch, and must not fail the job. */
export function createJobProgressRecorderFactory(db: Pick<Db, 'query' | 'sql' | 'write'>): CreateJobProgressRecorder {
  const SAVE = db.sql`insert into ${db.write(PROGRESS)} (job, share, text) values ($1, $2, $3)
    on conflict (job) do update set share = excluded.share, text = excluded.text, at = now()`;
  return (job) => {
    let latest: readonly [number, string | null] | undefined;
    let timer: NodeJS.Timeout | undefined;
    let writing: Promise<unknown> = Promise.resolve();

    function write(): void {
      timer = undefined;
      if (!latest) return;
      const [share, text] = latest;
      latest = undefined;
      writing = db.query(SAVE, [job, share, text], { name: 'queue_progress' }).catch(() => {});
      timer = setTimeout(write, WRITE_INTERVAL).unref();
    }

    return {
      record(share, text) {
        latest = [Math.min(1, Math.max(0, Number(share) || 0)), text?.slice(0, MAX_TEXT) ?? null];
        if (!timer) write();
      },
      async end() {
        latest = undefined;
        clearTimeout(timer);
        await writing;
      },
    };
  };
}
