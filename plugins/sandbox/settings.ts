import { totalmem } from 'node:os';
import { CastError, type ConfigKey, castSetting } from '#kernel';
import { CHILD_RUNTIME_MEMORY_BYTES } from '../../sandbox/host/launch/launch-plan.ts';
import type { GuestLimits } from '../../sandbox/protocol/messages.ts';

/**
 * The settings of the sandbox before they are parsed. An invalid one makes the confined runtime unavailable and affects nothing
 * else (conventions, "Limits").
 */
export interface SandboxConfig {
  readonly EXTENSIONS_SANDBOX_TIMEOUT: string;
  readonly EXTENSIONS_SANDBOX_MAX_MEMORY: string;
  readonly EXTENSIONS_SANDBOX_MAX_PROCESSES: string | undefined;
  readonly EXTENSIONS_SANDBOX_MAX_RESULT: string;
  readonly EXTENSIONS_SANDBOX_MAX_HOST_API_CALL: string;
  readonly EXTENSIONS_SANDBOX_MAX_ARTIFACT: string;
  readonly EXTENSIONS_SANDBOX_OS_HARDENING: string;
}

/** The share of processes for one kind of programs. */
export interface ProcessQuota {
  /** Processes that execute at a time. */
  readonly slots: number;
  /** Processes that live at a time, including waiting and idle ones. */
  readonly processes: number;
  /** Resident bytes of all living processes. */
  readonly memory: number;
}

export interface SandboxSettings {
  readonly limits: GuestLimits;
  /** The processes of endpoints and operations. */
  readonly endpoints: ProcessQuota;
  /** The processes of hooks, which public endpoints cannot use up. */
  readonly hooks: ProcessQuota;
  /** Bytes of the largest artifact. */
  readonly artifact: number;
  readonly mode: 'auto' | 'required';
}

/** An invalid setting. The message names it without its value. */
export class SandboxSettingError extends Error {}

const KB = 1024;
const MB = 1024 * KB;

const KEYS = {
  EXTENSIONS_SANDBOX_TIMEOUT: ['duration', 1000, 300_000, 'from 1 s to 5 min'],
  EXTENSIONS_SANDBOX_MAX_MEMORY: ['size', 16 * MB, 512 * MB, 'from 16 MB to 512 MB'],
  EXTENSIONS_SANDBOX_MAX_PROCESSES: ['integer', 1, 32, 'from 1 to 32'],
  EXTENSIONS_SANDBOX_MAX_RESULT: ['size', KB, 16 * MB, 'from 1 KB to 16 MB'],
  EXTENSIONS_SANDBOX_MAX_HOST_API_CALL: ['size', KB, 4 * MB, 'from 1 KB to 4 MB'],
  EXTENSIONS_SANDBOX_MAX_ARTIFACT: ['size', KB, 32 * MB, 'from 1 KB to 32 MB'],
} as const satisfies Record<string, readonly [ConfigKey['type'], number, number, string]>;
type NumberKey = keyof typeof KEYS;

/** Parses the settings of the sandbox. `memory`: bytes that the service may use. Throws a SandboxSettingError. */
export function parseSandboxSettings(config: SandboxConfig, memory = readEffectiveMemory()): SandboxSettings {
  const wall = readNumber(config, 'EXTENSIONS_SANDBOX_TIMEOUT');
  const limits: GuestLimits = {
    wall,
    cpu: Math.min(2000, Math.floor(wall * 0.8)),
    memory: readNumber(config, 'EXTENSIONS_SANDBOX_MAX_MEMORY'),
    result: readNumber(config, 'EXTENSIONS_SANDBOX_MAX_RESULT'),
    hostCall: readNumber(config, 'EXTENSIONS_SANDBOX_MAX_HOST_API_CALL'),
  };
  const mode = config.EXTENSIONS_SANDBOX_OS_HARDENING;
  if (mode !== 'auto' && mode !== 'required')
    throw new SandboxSettingError('EXTENSIONS_SANDBOX_OS_HARDENING must be auto or required');
  return {
    limits,
    ...computeShares(readSlots(config, limits.memory, memory), memory / 2),
    artifact: readNumber(config, 'EXTENSIONS_SANDBOX_MAX_ARTIFACT'),
    mode,
  };
}

/** The artifact limit in bytes, also where another setting is invalid. */
export function readArtifactLimit(config: SandboxConfig): number {
  try {
    return readNumber(config, 'EXTENSIONS_SANDBOX_MAX_ARTIFACT');
  } catch {
    return 8 * MB;
  }
}

/** Execution slots: as many processes at their memory limit as fit into half of the memory, at least one. */
function readSlots(config: SandboxConfig, memory: number, all: number): number {
  const most = Math.max(1, Math.floor(all / 2 / (memory + CHILD_RUNTIME_MEMORY_BYTES)));
  if (config.EXTENSIONS_SANDBOX_MAX_PROCESSES === undefined) return Math.min(4, most);
  const slots = readNumber(config, 'EXTENSIONS_SANDBOX_MAX_PROCESSES');
  if (slots > most)
    throw new SandboxSettingError(
      `EXTENSIONS_SANDBOX_MAX_PROCESSES is more than half of the memory holds: at most ${most} of this size`,
    );
  return slots;
}

/** Resident bytes of a waiting process, Node's pages included. */
const WAITING_PROCESS_MEMORY = 64 * MB;

/**
 * Divides the processes between endpoints and hooks. A waiting process keeps its memory and needs no execution slot. So up to
 * eight processes live per slot, and up to four for hooks.
 */
function computeShares(slots: number, memory: number): Pick<SandboxSettings, 'endpoints' | 'hooks'> {
  const share = (slots: number, living: number, bytes: number): ProcessQuota => ({
    slots,
    processes: Math.max(slots, Math.min(living, Math.floor(bytes / WAITING_PROCESS_MEMORY))),
    memory: bytes,
  });
  return {
    endpoints: share(slots, Math.min(64, slots * 8), memory * 0.75),
    hooks: share(Math.ceil(slots / 2), Math.min(32, slots * 4), memory * 0.25),
  };
}

function readNumber(config: SandboxConfig, name: NumberKey): number {
  const [type, minimum, maximum, range] = KEYS[name];
  try {
    return Math.floor(castSetting(config[name] ?? '', { type, minimum, maximum }) as number);
  } catch (error) {
    if (!(error instanceof CastError)) throw error;
    throw new SandboxSettingError(`${name} must be a ${type === 'integer' ? 'whole number' : type} ${range}`);
  }
}

/** Bytes of memory of the machine, or of the container where that is less. */
export const readEffectiveMemory = (): number =>
  Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
