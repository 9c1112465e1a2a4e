import type { Caller, Log } from '#kernel';
import type { CallerProvider } from '../../auth/contract.ts';
import type { JobQueue, JobState, QueueApi } from '../../queue/contract.ts';
import { PermanentJobError } from '../../queue/library.ts';
import type { SecretCipher } from '../../secrets/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { FlowRunner } from '../run/flow-runner.ts';
import type { CallerOfRun } from '../runs/kept-trigger.ts';

export const ASYNC_RUNS_QUEUE = 'flow-runs';
/** What a sealed trigger is bound to. */
const SEALED_KIND = 'trigger of a flow';
/** Seconds that a run may take, and that the job of an ended one is kept. */
const TIMEOUT = 3600;
const KEPT = 60;

/** A run that waits for a process. The trigger is sealed where SECRETS_ENCRYPTION_KEY is set, since it may hold secrets. */
interface WaitingRun {
  readonly flow: string;
  readonly user: string | null;
  /** The flow runs for no caller. */
  readonly isWithoutCaller?: boolean;
  readonly client: { readonly ip: string | null; readonly userAgent: string | null; readonly origin: string | null };
  readonly trigger?: unknown;
  readonly sealed?: string;
}

interface Deps {
  readonly queue: Pick<QueueApi, 'define'>;
  readonly secrets: SecretCipher;
  readonly identity: Pick<CallerProvider, 'ofUser' | 'ofPublic'>;
  readonly plans: Pick<FlowPlans, 'current'>;
  readonly runner: FlowRunner;
  readonly concurrency: number;
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

export interface AsyncRuns {
  /** Adds a run of the flow and answers its id; resolves when it cannot be lost any more. */
  add(plan: FlowPlan, run: AddedRun): Promise<string>;
  /** Cancels a waiting or running job. */
  cancel(id: string): Promise<boolean>;
  state(id: string): Promise<JobState | undefined>;
  stop(): Promise<void>;
}

/** Runs whose caller does not wait: jobs, which a process that dies leaves to another one. */
export function createAsyncRuns(deps: Deps): AsyncRuns {
  const { queue, secrets, identity, plans, runner, concurrency, log, onAdded, onRefused } = deps;
  const jobs: JobQueue<WaitingRun> = queue.define<WaitingRun>({
    name: ASYNC_RUNS_QUEUE,
    retries: 5,
    timeout: TIMEOUT,
    concurrency,
    keepCompleted: KEPT,
    log,
    async run({ id, data, signal }) {
      const { plan, trigger, caller } = await prepare(data).catch(async (error) => {
        if (error instanceof PermanentJobError) await onRefused(id, error.message);
        throw error;
      });
      const { runStatus: status } = await runner.run(plan, { id, trigger, caller, signal });
      if (status === 'waiting') signal.throwIfAborted();
      return { status };
    },
  });

  async function prepare(data: WaitingRun) {
    const plan = (await plans.current()).get(data.flow);
    if (!plan) throw new PermanentJobError('the flow is gone or inactive');
    return { plan, trigger: triggerOf(data), caller: data.isWithoutCaller === true ? null : await callerOf(data) };
  }

  function triggerOf({ sealed, trigger }: WaitingRun): unknown {
    if (sealed === undefined) return trigger;
    const text = secrets.open(SEALED_KIND, sealed);
    if (text === undefined) throw new PermanentJobError('the trigger was sealed with another SECRETS_ENCRYPTION_KEY');
    return JSON.parse(text);
  }

  async function callerOf({ user, client }: WaitingRun): Promise<Caller> {
    try {
      return await (user === null ? identity.ofPublic(client) : identity.ofUser(user, client));
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (code === 'INVALID_CREDENTIALS' || code === 'USER_SUSPENDED' || code === 'INVALID_IP')
        throw new PermanentJobError(`the caller may not act any more: ${code}`);
      throw error;
    }
  }

  return {
    async add(plan, run) {
      const { caller, trigger } = run;
      const { user = null, ip = null, userAgent = null, origin = null } = caller ?? {};
      const content = secrets.available()
        ? { sealed: secrets.seal(SEALED_KIND, JSON.stringify(trigger)) }
        : { trigger };
      const job = { flow: plan.id, user, client: { ip, userAgent, origin }, ...content };
      // A job without a key is always added.
      const id = (await jobs.add(caller ? job : { ...job, isWithoutCaller: true })) as string;
      await onAdded(id, plan, run);
      return id;
    },
    cancel: (id) => jobs.cancel(id),
    state: (id) => jobs.state(id),
    stop: () => jobs.stop(),
  };
}
