import type { Log } from '#kernel';
import type { Launcher, LauncherOptions } from '../../sandbox/host/child.ts';
import { LEAST, type Posture, REQUIRED } from '../../sandbox/host/posture/posture.ts';
import { createSupervisor, type Supervisor } from '../../sandbox/host/supervisor/supervisor.ts';
import type { Limits } from '../../sandbox/protocol/messages.ts';
import type { RuntimeState } from './contract.ts';
import { readSettings, type SandboxConfig, SettingError } from './settings.ts';

/** Starts a launcher, or rejects where confined processes cannot be had at all. */
export type Launch = (options: LauncherOptions) => Promise<Launcher>;

/** A runtime that runs programs. */
export interface Live {
  /** Endpoints and operations. */
  readonly open: Supervisor;
  /** Hooks, whose processes and places are their own. */
  readonly hooks: Supervisor;
  readonly limits: Limits;
  /** Ends every process. */
  close(): Promise<void>;
}

export interface Resolved {
  readonly state: RuntimeState;
  readonly live?: Live;
  /** Nothing that lasts was in the way. */
  readonly again?: true;
}

/** Settings, self-tests, posture, which the launcher logs. Never rejects. */
export async function resolveRuntime(config: SandboxConfig, launch: Launch, log: Log): Promise<Resolved> {
  let settings: ReturnType<typeof readSettings>;
  try {
    settings = readSettings(config);
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    return unavailable(log, error.message);
  }
  const { limits, open, hooks, mode } = settings;
  const processes = open.processes + hooks.processes;
  let launcher: Launcher;
  try {
    launcher = await launch({ mode, memory: limits.memory, processes, log });
  } catch (error) {
    log.error({ err: error }, 'confined processes cannot be started');
    return { ...unavailable(log, 'Confined processes cannot be started.'), again: true };
  }
  const { posture } = launcher;
  if (posture.decision === 'refuse') {
    await launcher.close();
    return unavailable(log, reasonOf(posture), posture);
  }
  const live: Omit<Live, 'close'> = {
    limits,
    open: createSupervisor({ launcher, limits, ...open, log }),
    hooks: createSupervisor({ launcher, limits, ...hooks, log }),
  };
  const close = async () => {
    await Promise.all([live.open.close(), live.hooks.close()]);
    await launcher.close();
  };
  return { state: { state: 'available', posture }, live: { ...live, close } };
}

function unavailable(log: Log, reason: string, posture: Posture | null = null): Resolved {
  log.warn(`confined code does not run: ${reason}`);
  return { state: { state: 'unavailable', posture, reason } };
}

function reasonOf({ mode, missing }: Posture): string {
  const needed = mode === 'required' ? REQUIRED : LEAST;
  const lacking = missing.filter((layer) => needed.includes(layer)).join(', ');
  return mode === 'required'
    ? `EXTENSIONS_SANDBOX_OS_HARDENING is required, and these layers of confinement do not hold: ${lacking}.`
    : `These layers of confinement are the least, and do not hold: ${lacking}.`;
}
