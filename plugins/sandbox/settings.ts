import { totalmem } from 'node:os';
import { CastError, type ConfigKey, cast } from '#kernel';
import { RUNTIME_MEMORY } from '../../sandbox/host/launch/launch-plan.ts';
import type { GuestLimits } from '../../sandbox/protocol/messages.ts';

/** As written: a wrong one makes the runtime unavailable and stops nothing else (conventions, "Limits"). */
export interface SandboxConfig {
  readonly EXTENSIONS_SANDBOX_TIMEOUT: string;
  readonly EXTENSIONS_SANDBOX_MAX_MEMORY: string;
  readonly EXTENSIONS_SANDBOX_MAX_PROCESSES: string | undefined;
  readonly EXTENSIONS_SANDBOX_MAX_RESULT: string;
  readonly EXTENSIONS_SANDBOX_MAX_HOST_API_CALL: string;
  readonly EXTENSIONS_SANDBOX_MAX_ARTIFACT: string;
  readonly EXTENSIONS_SANDBOX_OS_HARDENING: string;
}

/** Processes of one kind of programs. */
export interface ProcessShare {
  /** Executing at a time. */
  readonly slots: number;
  /** Living at a time, those included that wait or are idle. */
  readonly processes: number;
  /** Bytes of all that live. */
  readonly memory: number;
}

export interface SandboxSettings {
  readonly limits: GuestLimits;
  /** Endpoints and operations. */
  readonly endpoints: ProcessShare;
  /** Hooks: what the public may call takes none of these. */
  readonly hooks: ProcessShare;
  /** Bytes. */
  readonly artifact: number;
  readonly mode: 'auto' | 'required';
}

/** What is wrong with a setting, by its name and without its value. */
export class SettingError extends Error {}

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

/** `memory` is what the service may use at all, in bytes. Throws a SettingError. */
export function readSettings(config: SandboxConfig, memory = readEffectiveMemory()): SandboxSettings {
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
    throw new SettingError('EXTENSIONS_SANDBOX_OS_HARDENING must be auto or required');
  return {
    limits,
    ...computeShares(readSlots(config, limits.memory, memory), memory / 2),
    artifact: readNumber(config, 'EXTENSIONS_SANDBOX_MAX_ARTIFACT'),
    mode,
  };
}

/** Also where another setting is wrong, and nothing will run. */
export function readArtifactLimit(config: SandboxConfig): number {
  try {
    return readNumber(config, 'EXTENSIONS_SANDBOX_MAX_ARTIFACT');
  } catch {
    return 8 * MB;
  }
}

/** As many as fit at their limit into the half of the memory that is for confined processes, and at least one. */
function readSlots(config: SandboxConfig, memory: number, all: number): number {
  const most = Math.max(1, Math.floor(all / 2 / (memory + RUNTIME_MEMORY)));
  if (config.EXTENSIONS_SANDBOX_MAX_PROCESSES === undefined) return Math.min(4, most);
  const slots = readNumber(config, 'EXTENSIONS_SANDBOX_MAX_PROCESSES');
  if (slots > most)
    throw new SettingError(
      `EXTENSIONS_SANDBOX_MAX_PROCESSES is more than half of the memory holds: at most ${most} of this size`,
    );
  return slots;
}

/** What a process that waits has resident, Node's own pages included. */
const WAITING_PROCESS_MEMORY = 64 * MB;

/** A process that waits keeps its memory and needs no execution slot: up to eight live for a slot, and up to four for hooks. */
function computeShares(slots: number, memory: number): Pick<SandboxSettings, 'endpoints' | 'hooks'> {
  const share = (slots: number, living: number, bytes: number): ProcessShare => ({
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
    return Math.floor(cast(config[name] ?? '', { type, minimum, maximum }) as number);
  } catch (error) {
    if (!(error instanceof CastError)) throw error;
    throw new SettingError(`${name} must be a ${type === 'integer' ? 'whole number' : type} ${range}`);
  }
}

/** Of the machine, or of the container where that has less. */
export const readEffectiveMemory = (): number =>
  Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
