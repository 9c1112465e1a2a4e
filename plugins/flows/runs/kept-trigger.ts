import { type Caller, castSetting, type Log } from '#kernel';
import type { SecretCipher } from '../../secrets/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { RunRequest } from '../run/flow-runner.ts';

/** The trigger and the caller of a run, encrypted. */
export interface KeptTrigger {
  readonly sealed: string;
  readonly until: Date;
}

/** Who a run was for, as far as a later run needs it. */
export type CallerOfRun = Pick<Caller, 'user' | 'ip' | 'userAgent' | 'origin'>;

/** What a run began with. */
export interface OpenedTrigger {
  readonly trigger: unknown;
  /** Null where the flow ran for no caller. */
  readonly caller: CallerOfRun | null;
}

/** The part of a run's request that is kept. */
export interface RunToKeep extends Pick<RunRequest, 'trigger' | 'isPartOfWrite'> {
  readonly caller: (CallerOfRun & Pick<Caller, 'share'>) | null;
}

export interface KeptTriggers {
  /** Seals the trigger of a run whose flow has the option `keepTrigger`; undefined for any other run. */
  seal(plan: FlowPlan, run: RunToKeep): KeptTrigger | undefined;
  /** Undefined where it was sealed with another key. */
  open(sealed: string): OpenedTrigger | undefined;
}

/** What a kept trigger is bound to. */
const SEALED_KIND = 'kept trigger of a flow';
const MAX_LENGTH = 1024 * 1024;
const MAX_DURATION = 90 * 86_400_000;

/**
 * Triggers of runs that can be started again. They hold what clients sent, secrets included, so they are kept encrypted or not at all.
 * Not kept are those of filter flows, which belong to a write that is over, of visitors of a share, and of more than 1 MB.
 */
export function createKeptTriggers(secrets: SecretCipher, log: Pick<Log, 'warn'>): KeptTriggers {
  /** Each flow is named in the log once, not with each of its runs. */
  const reported = new WeakSet<FlowPlan>();
  function report(plan: FlowPlan, reason: string): undefined {
    if (!reported.has(plan)) log.warn({ flow: plan.id, reason }, 'triggers of a flow are not kept');
    reported.add(plan);
  }

  return {
    seal(plan, { trigger, caller, isPartOfWrite = false }) {
      const { keepTrigger } = plan.options;
      if (keepTrigger === undefined || keepTrigger === null || isPartOfWrite || caller?.share) return undefined;
      const duration = parseDuration(keepTrigger);
      if (duration === undefined) return report(plan, '"keepTrigger" must be a duration such as "7d", at most 90 days');
      if (!secrets.available()) return report(plan, 'SECRETS_ENCRYPTION_KEY is not set');
      const { user = null, ip = null, userAgent = null, origin = null } = caller ?? {};
      const text = JSON.stringify({ trigger, caller: caller && { user, ip, userAgent, origin } });
      if (text.length > MAX_LENGTH) return undefined;
      return { sealed: secrets.seal(SEALED_KIND, text), until: new Date(Date.now() + duration) };
    },
    open(sealed) {
      const text = secrets.open(SEALED_KIND, sealed);
      return text === undefined ? undefined : JSON.parse(text);
    },
  };
}

/** Milliseconds; undefined for what is no duration from a second to 90 days. */
function parseDuration(value: unknown): number | undefined {
  try {
    return castSetting(String(value), { type: 'duration', minimum: 1000, maximum: MAX_DURATION }) as number;
  } catch {
    return undefined;
  }
}
