import { type Caller, fail, type Log } from '#kernel';
import type { CallerProvider } from '../../auth/contract.ts';
import type { JobQueue, JobState, QueueApi, QueuedJob } from '../../queue/contract.ts';
import { JobPostponement, PermanentJobError, QueueStop } from '../../queue/library.ts';
import type { SecretCipher } from '../../secrets/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { FlowRunner } from '../run/flow-runner.ts';
import type { CallerOfRun } from '../runs/kept-trigger.ts';
import { createJobRoom } from '../state/job-room.ts';
import { RunSuspension } from '../state/run-break.ts';
import type { RunStates } from '../state/run-states.ts';
import { readStoredCaller, type StoredCaller, toStoredCaller } from './stored-caller.ts';

export const ASYNC_RUNS_QUEUE = 'flow-runs';
/** What a sealed trigger is bound to. */
const SEALED_KIND = 'trigger of a flow';
/** Seconds that a run may take in one process, and that the job of an ended one is kept. */
const TIMEOUT = 3600;
const KEPT = 60;
/** Seconds of `Retry-After`. */
const RETRY_AFTER = 30;

/** A run that waits for a process. The trigger is sealed where SECRETS_ENCRYPTION_KEY is set, since it may hold secrets. */
interface WaitingRun extends StoredCaller {
  readonly flow: string;
  /** The run began before its job was added: its trigger stands in its state. */
  readonly isBegun?: true;
  readonly trigger?: unknown;
  readonly sealed?: string;
  /** `FlowRunner.pathTo` of the run. */
  readonly path?: readonly string[];
}

/** How many runs may wait, sleep and run in the background before clients are refused. */
export interface BackgroundLimits {
  readonly ofFlow: number;
  readonly inAll: number;
}

interface Deps {
  readonly queue: Pick<QueueApi, 'define'>;
  readonly secrets: SecretCipher;
  readonly identity: Pick<CallerProvider, 'ofUser' | 'ofPublic'>;
  readonly plans: Pick<FlowPlans, 'current'>;
  readonly runner: FlowRunner;
  readonly states: RunStates;
  readonly concurrency: number;
  readonly limits: BackgroundLimits;
  readonly log: Log;
  /** Called when the job of a run is stored. Never rejects. */
  readonly onAdded: (id: string, plan: FlowPlan, request: AddedRun) => Promise<void>;
  /** Called where the job cannot run the flow. Never rejects. */
  readonly onRefused: (id: string, message: string) => Promise<void>;
}

/** A run to be added. */
export interface AddedRun {
  /** Null where the flow runs for no caller. */
  readonly caller: CallerOfRun | null;
  readonly trigger: unknown;
  /** The run that this one repeats. */
  readonly retryOf?: string;
}

/** Runs that no client waits for, as jobs. Each job has the id of its run. */
export interface AsyncRuns {
  /**
   * Adds a run that a client asks for; resolves when it cannot be lost any more.
   * @throws REQUESTS_EXCEEDED where the flow has too many unfinished runs, SERVICE_UNAVAILABLE where all flows have, both with
   * `retryAfter`; FORBIDDEN for a shared link; INVALID_PAYLOAD for a trigger of more than 1 MB
   */
  addForClient(plan: FlowPlan, caller: Caller, trigger: unknown): Promise<void>;
  /** Adds a run without a limit and answers its id; it exists when the open unit of work commits. */
  add(plan: FlowPlan, run: AddedRun): Promise<string>;
  /** Adds the job that goes on with a run, whose state is stored in the same unit of work. */
  goOn(plan: FlowPlan, run: string, caller: StoredCaller, path: readonly string[], until: Date): Promise<void>;
  /** Whether a run of the flow sleeps, waits or runs as a job. */
  hasUnfinished(plan: FlowPlan): Promise<boolean>;
  /** Cancels a waiting or running job. */
  cancel(id: string): Promise<boolean>;
  state(id: string): Promise<JobState | undefined>;
  stop(): Promise<void>;
}

/** Runs that no client waits for: jobs, which a process that dies leaves to another one. It goes on after the last operation that ended. */
export function createAsyncRuns(deps: Deps): AsyncRuns {
  const { queue, secrets, states, runner, limits, log, concurrency, onAdded } = deps;
  const jobs: JobQueue<WaitingRun> = queue.define<WaitingRun>({
    name: ASYNC_RUNS_QUEUE,
    retries: 5,
    timeout: TIMEOUT,
    concurrency,
    keepCompleted: KEPT,
    log,
    run: createJobWork(deps),
  });
  const room = createJobRoom(jobs);

  async function add(plan: FlowPlan, run: AddedRun): Promise<string> {
    const { caller, trigger } = run;
    const { user = null, ip = null, userAgent = null, origin = null } = caller ?? {};
    const stored: StoredCaller = { user, client: { ip, userAgent, origin }, ...(caller ? {} : { isNone: true }) };
    const content = secrets.available() ? { sealed: secrets.seal(SEALED_KIND, JSON.stringify(trigger)) } : { trigger };
    const job = { flow: plan.id, path: runner.pathTo(plan), ...stored, ...content };
    // A job without a key is always added.
    const id = (await jobs.add(job, { group: plan.id })) as string;
    await onAdded(id, plan, run);
    return id;
  }

  return {
    add,
    async addForClient(plan, caller, trigger) {
      if (!toStoredCaller(caller))
        throw fail('FORBIDDEN', 'shared links and callers of a role alone run no flow in the background');
      const retryAfter = RETRY_AFTER;
      if (!(await room.has(limits.ofFlow, plan.id)))
        throw fail('REQUESTS_EXCEEDED', 'The flow has too many unfinished runs. Try again later.', { retryAfter });
      if (!(await room.has(limits.inAll)))
        throw fail('SERVICE_UNAVAILABLE', 'Too many runs of flows are unfinished. Try again later.', {
          service: 'flows',
          retryAfter,
        });
      await add(plan, { caller, trigger });
    },
    async goOn({ id: flow }, id, caller, path, until) {
      await jobs.add({ flow, isBegun: true, path, ...caller }, { id, group: flow, startAfter: until });
    },
    hasUnfinished: async ({ id }) => (await jobs.countUnfinished(1, id)) > 0,
    async cancel(id) {
      const isCancelled = await jobs.cancel(id);
      await states.forget(id);
      return isCancelled;
    },
    state: (id) => jobs.state(id),
    stop: () => jobs.stop(),
  };
}

/** What one job does: it begins a run, or goes on with one. */
function createJobWork({ secrets, identity, plans, runner, states, onRefused }: Deps) {
  function triggerOf({ sealed, trigger }: WaitingRun): unknown {
    if (sealed === undefined) return trigger;
    const text = secrets.open(SEALED_KIND, sealed);
    if (text === undefined) throw new PermanentJobError('the trigger was sealed with another SECRETS_ENCRYPTION_KEY');
    return JSON.parse(text);
  }

  async function prepare(id: string, data: WaitingRun) {
    const plan = (await plans.current()).get(data.flow);
    if (!plan) throw new PermanentJobError('the flow is gone or inactive');
    const stored = await states.open(id, plan.id);
    const trigger = data.isBegun ? stored.trigger : triggerOf(data);
    return { plan, stored, trigger, caller: await readStoredCaller(identity, data) };
  }

  return async ({ id, data, signal }: QueuedJob<WaitingRun>): Promise<unknown> => {
    const { plan, stored, trigger, caller } = await prepare(id, data).catch(async (error) => {
      if (error instanceof PermanentJobError) await onRefused(id, error.message);
      throw error;
    });
    // The process that ended it died before it said so.
    if (stored.isEnded) return {};
    try {
      const request = { id, trigger, caller, signal, isJob: true, state: stored.state, path: data.path };
      const { runStatus: status } = await runner.runToStatus(plan, request);
      await stored.end();
      return { status };
    } catch (error) {
      // A run that took too long has failed, and may be retried.
      if (signal.aborted && !(signal.reason instanceof QueueStop)) throw signal.reason;
      throw error instanceof RunSuspension ? new JobPostponement(error.until) : error;
    }
  };
}
