import type { Log } from '#kernel';
import type { UnfinishedBodyMemoryBudget } from './body-memory.ts';
import type { UnknownParameterCheck, UnknownParametersMode } from './unknown-parameters.ts';

/** The settings of this plugin, as its manifest declares them. */
export interface HttpConfig {
  readonly MAX_PAYLOAD_SIZE: number;
  readonly MAX_PAYLOAD_MEMORY: number;
  readonly IP_TRUST_PROXY: 'false' | 'true' | '0' | '1' | '2' | '3' | '4' | '5';
  readonly HSTS_ENABLED: boolean;
  readonly HSTS_MAX_AGE: number;
  readonly CORS_ENABLED: boolean;
  readonly CORS_ORIGIN: readonly string[];
  readonly CORS_METHODS: readonly string[];
  readonly CORS_ALLOWED_HEADERS: readonly string[];
  readonly CORS_EXPOSED_HEADERS: readonly string[];
  readonly CORS_CREDENTIALS: boolean;
  readonly CORS_MAX_AGE: number;
  readonly QUERYSTRING_MAX_PARSE_DEPTH: number;
  readonly QUERYSTRING_ARRAY_LIMIT: number;
  readonly QUERYSTRING_PARAMETER_LIMIT: number;
  readonly STREAM_STALL_TIMEOUT: number;
  readonly QUERYSTRING_UNKNOWN_PARAMETERS: UnknownParametersMode | undefined;
  readonly NODE_ENV: string;
  readonly LOG_HTTP_SAMPLE_RATE: number;
}

export interface QueryStringLimits {
  /** Brackets in one name. */
  readonly depth: number;
  /** Entries of one list. */
  readonly list: number;
  readonly parameters: number;
}

/** Settings and services that `library.ts` needs in a request; part of `ctx.state`. */
export interface RequestSettings {
  readonly limits: QueryStringLimits;
  readonly proxies: number;
  /**
   * Milliseconds a client may take for one part of a streamed response, or may send nothing of a body; 0 is no limit.
   */
  readonly idleTimeout: number;
  /** The memory of bodies that have not arrived completely. */
  readonly memory: UnfinishedBodyMemoryBudget;
  readonly log: Log;
  /** Checks names of a query that is sent in a body. */
  readonly parameters: UnknownParameterCheck;
}

/** Warnings help developers of clients, so they are off in production; `refuse` has to be set. */
export const unknownParametersModeFromConfig = (config: HttpConfig): UnknownParametersMode =>
  config.QUERYSTRING_UNKNOWN_PARAMETERS ?? (config.NODE_ENV === 'production' ? 'ignore' : 'warn');

export const createRequestSettings = (
  config: HttpConfig,
  services: Pick<RequestSettings, 'log' | 'memory' | 'parameters'>,
): RequestSettings => ({
  ...services,
  limits: {
    depth: config.QUERYSTRING_MAX_PARSE_DEPTH,
    list: config.QUERYSTRING_ARRAY_LIMIT,
    parameters: config.QUERYSTRING_PARAMETER_LIMIT,
  },
  idleTimeout: config.STREAM_STALL_TIMEOUT,
  proxies: config.IP_TRUST_PROXY === 'true' ? 1 : Number(config.IP_TRUST_PROXY) || 0,
});

/**
 * The memory limit of unfinished bodies in bytes: at least four times MAX_PAYLOAD_SIZE, so that the largest body fits
 * into the half that one address may hold.
 */
export const bodyMemoryLimitFromConfig = ({ MAX_PAYLOAD_MEMORY: memory, MAX_PAYLOAD_SIZE: size }: HttpConfig): number =>
  Math.max(memory, 4 * size);
