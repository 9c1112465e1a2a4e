import { type Caller, fail, type Log } from '#kernel';
import type { CallerProvider } from '../../auth/contract.ts';
import type { JobQueue, QueueApi } from '../../queue/contract.ts';
import { PermanentJobError } from '../../queue/library.ts';
import type { SecretCipher } from '../../secrets/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { FlowRunner } from '../run/flow-runner.ts';

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
}

export interface AsyncRuns {
  /** Adds a run of the flow; resolves when it cannot be lost any more. */
  add(plan: FlowPlan, caller: Caller, trigger: unknown): Promise<void>;
  stop(): Promise<void>;
}

/** Runs whose caller does not wait: jobs, which a process that dies leaves to another one. */
export function createAsyncRuns({ queue, secrets, identity, plans, runner, concurrency, log }: Deps): AsyncRuns {
  const jobs: JobQueue<WaitingRun> = queue.define<WaitingRun>({
    name: ASYNC_RUNS_QUEUE,
    retries: 5,
    timeout: TIMEOUT,
    concurrency,
    keepCompleted: KEPT,
    log,
    async run({ id, data, signal }) {
      const plan = (await plans.current()).get(data.flow);
      if (!plan) throw new PermanentJobError('the flow is gone or inactive');
      const trigger = triggerOf(data);
      const caller = await callerOf(data);
      const { status } = await runner.run(plan, { id, trigger, caller, signal });
      return { status };
    },
  });

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
    async add({ id: flow }, caller, trigger) {
      if (caller.share) throw fail('FORBIDDEN', 'a shared link runs no flow in the background');
      const { user, ip = null, userAgent = null, origin = null } = caller;
      const content = secrets.available()
        ? { sealed: secrets.seal(SEALED_KIND, JSON.stringify(trigger)) }
        : { trigger };
      await jobs.add({ flow, user, client: { ip, userAgent, origin }, ...content });
    },
    stop: () => jobs.stop(),
  };
}
