import type { ProcessPresence } from '../../cluster/contract.ts';
import type { Db } from '../../database/contract.ts';
import type { KeptTrigger } from './kept-trigger.ts';
import type { LoadRunModel } from './load-run-model.ts';

/** A run that begins, or waits for a process. */
export interface StartedRun {
  readonly id: string;
  readonly flow: string;
  readonly user: string | null;
  readonly kept?: KeptTrigger | undefined;
}

/** Runs that have not ended: those of jobs and of schedules. Runs that a client waits for are stored when they end. */
export interface RunsUnderWay {
  /** Stores a run whose job waits. */
  addWaiting(run: StartedRun & { readonly retryOf: string | null }): Promise<void>;
  /** Stores that a run begins in this process; false where it was cancelled before, or its flow is gone. */
  begin(run: StartedRun & { readonly isQueued: boolean }): Promise<boolean>;
  /** Stores that a run did not end here: its job runs again. */
  release(id: string): Promise<void>;
  /** Stores that no process can run the job. */
  refuse(id: string, message: string): Promise<void>;
  /** Stores that a run was cancelled; false where it has ended. */
  cancel(id: string): Promise<boolean>;
  /** Corrects the status of runs of processes that died: jobs wait again, other runs are interrupted. Of one flow, or of all. */
  settle(flow?: string): Promise<void>;
  /** Stores that the run's job is a dead letter, so that nothing runs it any more. */
  interrupt(id: string, message: string): Promise<void>;
}

const UNDER_WAY = ['waiting', 'running'];

interface Deps {
  readonly db: Db;
  readonly presence: Pick<ProcessPresence, 'id' | 'findDead'>;
  readonly loadRunModel: LoadRunModel;
}

export function createRunsUnderWay({ db, presence, loadRunModel }: Deps): RunsUnderWay {
  const runs = db.own('platform_flow_runs');
  const BEGIN = db.sql`with gone as (delete from ${db.own('platform_flow_run_steps')} where run = $1)
    insert into ${runs} as r (id, flow, status, started, process, queued, "user", trigger, trigger_until)
    select $1, f.id, 'running', now(), $3, $4, $5, $6, $7 from ${db.read('platform_flows')} f where f.id = $2
    on conflict (id) do update set status = 'running', started = now(), ended = null, step = null, error = null, process = excluded.process, queued = excluded.queued
    where r.status <> 'cancelled'`;

  async function end(id: string, status: 'reject' | 'cancelled' | 'interrupted', error: unknown): Promise<boolean> {
    const Run = await loadRunModel();
    const changed = await Run.query()
      .patch({ status, ended: new Date(), error, process: null })
      .where('id', id)
      .whereIn('status', UNDER_WAY);
    return changed > 0;
  }

  return {
    async addWaiting({ id, flow, user, kept, retryOf }) {
      const Run = await loadRunModel();
      const row = { id, flow, user, status: 'waiting' as const, started: new Date(), queued: true, retry_of: retryOf };
      await Run.query()
        .insert({ ...row, trigger: kept?.sealed ?? null, trigger_until: kept?.until ?? null })
        // Another process may have begun the job by now.
        .onConflict('id')
        .merge(['queued', 'retry_of', 'trigger', 'trigger_until']);
    },
    async begin({ id, flow, user, kept, isQueued }) {
      const values = [id, flow, presence.id, isQueued, user, kept?.sealed ?? null, kept?.until ?? null];
      return (await db.query(BEGIN, values)).count > 0;
    },
    async release(id) {
      const Run = await loadRunModel();
      await Run.query()
        .patch({ status: 'waiting', process: null })
        .where({ id, status: 'running', process: presence.id });
    },
    async refuse(id, message) {
      await end(id, 'reject', { message });
    },
    cancel: (id) => end(id, 'cancelled', null),
    async interrupt(id, message) {
      await end(id, 'interrupted', { message });
    },
    async settle(flow) {
      const Run = await loadRunModel();
      const running = Run.query().where('status', 'running').whereNot('process', presence.id);
      if (flow !== undefined) running.where('flow', flow);
      const processes = (await running.clone().distinct('process')).flatMap(({ process }) => process ?? []);
      const dead = processes.length === 0 ? [] : await presence.findDead(processes);
      if (dead.length === 0) return;
      const abandoned = running.clone().whereIn('process', dead);
      await abandoned.clone().where('queued', true).patch({ status: 'waiting', process: null });
      const error = { message: 'the process that ran it has ended' };
      await abandoned
        .clone()
        .where('queued', false)
        .patch({ status: 'interrupted', ended: new Date(), error, process: null });
    },
  };
}
