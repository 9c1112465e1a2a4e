import type { Log } from '#kernel';
import type { UnfinishedBodyMemoryBudget } from './body-memory.ts';
import { createPolicyAdder, type PolicyAdditions } from './content-security-policy.ts';
import type { UnknownParameterCheck, UnknownParametersMode } from './unknown-parameters.ts';

/** The settings of this plugin, as its manifest declares them. */
export interface HttpConfig {
  readonly MAX_PAYLOAD_SIZE: number;
  readonly MAX_PAYLOAD_MEMORY: number;
  readonly IP_TRUST_PROXY: 'false' | 'true' | '0' | '1' | '2' | '3' | '4' | '5';
  readonly HSTS_ENABLED: boolean;
  readonly HSTS_MAX_AGE: number;
  readonly HSTS_INCLUDE_SUB_DOMAINS: boolean;
  readonly HSTS_PRELOAD: boolean;
  readonly CROSS_ORIGIN_OPENER_POLICY_ENABLED: boolean;
  readonly CROSS_ORIGIN_OPENER_POLICY: string;
  /** Sources that are added to the policies of pages, by name of the setting. */
  readonly 'CONTENT_SECURITY_POLICY_DIRECTIVES__*': Readonly<Record<string, string>>;
  readonly IP_CUSTOM_HEADER: string;
  readonly LOG_HTTP_IGNORE_PATHS: readonly string[];
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

/** Settings of the kernel. */
export interface SharedHttpConfig {
  readonly UNIX_SOCKET_PATH: string | undefined;
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
  /** Lower-case name of a header with the address of the client, which the proxy in front sets; undefined for none. */
  readonly addressHeader: string | undefined;
  /** Sources that an admin adds to policies of pages. */
  readonly policyAdditions: PolicyAdditions;
  /** A policy with these sources. */
  readonly withPolicyAdditions: (policy: string) => string;
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
  config: HttpConfig & SharedHttpConfig,
  services: Pick<RequestSettings, 'log' | 'memory' | 'parameters' | 'policyAdditions'>,
): RequestSettings => ({
  ...services,
  withPolicyAdditions: createPolicyAdder(services.policyAdditions),
  limits: {
    depth: config.QUERYSTRING_MAX_PARSE_DEPTH,
    list: config.QUERYSTRING_ARRAY_LIMIT,
    parameters: config.QUERYSTRING_PARAMETER_LIMIT,
  },
  idleTimeout: config.STREAM_STALL_TIMEOUT,
  proxies: trustedProxiesFromConfig(config),
  addressHeader: config.IP_CUSTOM_HEADER === 'false' ? undefined : config.IP_CUSTOM_HEADER.toLowerCase(),
});

/** A connection by a socket of this machine has no address, and comes from a proxy: there is one at least. */
function trustedProxiesFromConfig({
  IP_TRUST_PROXY: trusted,
  UNIX_SOCKET_PATH: socket,
}: HttpConfig & SharedHttpConfig) {
  const proxies = trusted === 'true' ? 1 : Number(trusted) || 0;
  return socket === undefined ? proxies : Math.max(proxies, 1);
}

/**
 * The memory limit of unfinished bodies in bytes: at least four times MAX_PAYLOAD_SIZE, so that the largest body fits
 * into the half that one address may hold.
 */
export const bodyMemoryLimitFromConfig = ({ MAX_PAYLOAD_MEMORY: memory, MAX_PAYLOAD_SIZE: size }: HttpConfig): number =>
  Math.max(memory, 4 * size);
