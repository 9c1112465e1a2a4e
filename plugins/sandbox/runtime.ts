import type { Log } from '#kernel';
import type { ConfinedChildLauncher, ConfinedChildLauncherOptions } from '../../sandbox/host/confined-child.ts';
import {
  CONFINEMENT_LAYERS_OF_REQUIRED_MODE,
  MINIMUM_CONFINEMENT_LAYERS,
  type Posture,
} from '../../sandbox/host/posture/confinement-layers.ts';
import { createSupervisor, type Supervisor } from '../../sandbox/host/supervisor/supervisor.ts';
import type { GuestLimits } from '../../sandbox/protocol/messages.ts';
import type { ConfinedRuntimeState } from './contract.ts';
import { parseSandboxSettings, type SandboxConfig, SandboxSettingError } from './settings.ts';

/** Creates a launcher. Rejects where confined processes are not possible at all. */
export type CreateLauncher = (options: ConfinedChildLauncherOptions) => Promise<ConfinedChildLauncher>;

/** The confined runtime while it is available: its supervisors and limits. */
export interface AvailableConfinedRuntime {
  /** Runs endpoints and operations. */
  readonly endpoints: Supervisor;
  /** Runs hooks, with processes and execution slots of their own. */
  readonly hooks: Supervisor;
  readonly limits: GuestLimits;
  /** Ends every process. */
  close(): Promise<void>;
}

export interface ConfinedRuntimeStartResult {
  readonly state: ConfinedRuntimeState;
  readonly live?: AvailableConfinedRuntime;
  /** The failure may be temporary: the next `runtime()` tries again. */
  readonly mayRetry?: true;
}

/** Reads the settings, runs the self-tests and starts the supervisors. The launcher logs the posture. Never rejects. */
export async function startConfinedRuntime(
  config: SandboxConfig,
  launch: CreateLauncher,
  log: Log,
): Promise<ConfinedRuntimeStartResult> {
  let settings: ReturnType<typeof parseSandboxSettings>;
  try {
    settings = parseSandboxSettings(config);
  } catch (error) {
    if (!(error instanceof SandboxSettingError)) throw error;
    return createUnavailable(log, error.message);
  }
  const { limits, endpoints, hooks, mode } = settings;
  const processes = endpoints.processes + hooks.processes;
  let launcher: ConfinedChildLauncher;
  try {
    launcher = await launch({ mode, memory: limits.memory, processes, log });
  } catch (error) {
    log.error({ err: error }, 'confined processes cannot be started');
    return { ...createUnavailable(log, 'Confined processes cannot be started.'), mayRetry: true };
  }
  const { posture } = launcher;
  if (posture.decision === 'refuse') {
    await launcher.close();
    return createUnavailable(log, renderReason(posture), posture);
  }
  const live: Omit<AvailableConfinedRuntime, 'close'> = {
    limits,
    endpoints: createSupervisor({ launcher, limits, ...endpoints, log }),
    hooks: createSupervisor({ launcher, limits, ...hooks, log }),
  };
  const close = async () => {
    await Promise.all([live.endpoints.close(), live.hooks.close()]);
    await launcher.close();
  };
  return { state: { state: 'available', posture }, live: { ...live, close } };
}

function createUnavailable(log: Log, reason: string, posture: Posture | null = null): ConfinedRuntimeStartResult {
  log.warn(`confined code does not run: ${reason}`);
  return { state: { state: 'unavailable', posture, reason } };
}

function renderReason({ mode, missing }: Posture): string {
  const needed = mode === 'required' ? CONFINEMENT_LAYERS_OF_REQUIRED_MODE : MINIMUM_CONFINEMENT_LAYERS;
  const lacking = missing.filter((layer) => needed.includes(layer)).join(', ');
  return mode === 'required'
    ? `EXTENSIONS_SANDBOX_OS_HARDENING is required, and these layers of confinement do not hold: ${lacking}.`
    : `These layers of confinement are the least, and do not hold: ${lacking}.`;
}
