import { BootFailure, CastError, type ConfigKey, castSetting } from '#kernel';

export interface PressureLimitConfig {
  PRESSURE_LIMITER_ENABLED: boolean;
  PRESSURE_LIMITER_SAMPLE_INTERVAL: number;
  PRESSURE_LIMITER_MAX_EVENT_LOOP_UTILIZATION: number;
  PRESSURE_LIMITER_MAX_EVENT_LOOP_DELAY: number;
  PRESSURE_LIMITER_MAX_MEMORY_RSS: string;
  PRESSURE_LIMITER_MAX_MEMORY_HEAP_USED: string;
  PRESSURE_LIMITER_RETRY_AFTER: string;
}

/** Limits of the load; Infinity for none. */
export interface PressureLimits {
  /** Share of the time between two samples in which the process worked. */
  readonly utilization: number;
  /** Mean delay of timers in milliseconds. */
  readonly delay: number;
  /** Bytes. */
  readonly rss: number;
  /** Bytes. */
  readonly heapUsed: number;
}

/** @throws BootFailure for values of the wrong form, and where all limits are off. */
export function parsePressureLimits(config: PressureLimitConfig): PressureLimits {
  const limits = {
    utilization: config.PRESSURE_LIMITER_MAX_EVENT_LOOP_UTILIZATION || Number.POSITIVE_INFINITY,
    delay: config.PRESSURE_LIMITER_MAX_EVENT_LOOP_DELAY || Number.POSITIVE_INFINITY,
    rss: parseOptional(config, 'PRESSURE_LIMITER_MAX_MEMORY_RSS', 'size') ?? Number.POSITIVE_INFINITY,
    heapUsed: parseOptional(config, 'PRESSURE_LIMITER_MAX_MEMORY_HEAP_USED', 'size') ?? Number.POSITIVE_INFINITY,
  };
  if (Object.values(limits).every((limit) => limit === Number.POSITIVE_INFINITY))
    throw createConfigFailure(
      'PRESSURE_LIMITER_ENABLED is true, but every limit is off',
      'set one of PRESSURE_LIMITER_MAX_…, or PRESSURE_LIMITER_ENABLED=false',
    );
  return limits;
}

/** Seconds for the header `Retry-After`; undefined for none. @throws BootFailure */
export const parseRetryAfter = (config: PressureLimitConfig): number | undefined =>
  parseOptional(config, 'PRESSURE_LIMITER_RETRY_AFTER', 'integer');

/** The value of a setting that may be `false`. */
function parseOptional(
  config: PressureLimitConfig,
  name: 'PRESSURE_LIMITER_MAX_MEMORY_RSS' | 'PRESSURE_LIMITER_MAX_MEMORY_HEAP_USED' | 'PRESSURE_LIMITER_RETRY_AFTER',
  type: ConfigKey['type'],
): number | undefined {
  if (/^false$/i.test(config[name])) return undefined;
  try {
    return castSetting(config[name], { type, minimum: 1 }) as number;
  } catch (error) {
    if (!(error instanceof CastError)) throw error;
    throw createConfigFailure(`${name} ${error.message}, or false`, `correct ${name}`);
  }
}

const createConfigFailure = (reason: string, remedy: string) =>
  new BootFailure('@tenon/pressure-limit', 'config', reason, { remedy });
