import { authorities, facet } from '#kernel';

/** `warn`: the component works, but slower than its threshold, or by other means. */
export type HealthCheckStatus = 'ok' | 'warn' | 'error';

/** One component of the service that `GET /server/health` checks. */
export interface HealthCheck {
  /** Name of the check in the answer, for example `pg:responseTime`. */
  readonly name: string;
  /** Kind of component, for example `datastore`. */
  readonly componentType: string;
  /** Milliseconds above which a working component counts as slow. */
  readonly threshold?: number;
  /**
   * Resolves with the observed value (milliseconds unless `unit` says otherwise); a rejection means that the component fails.
   * `output` is the reason of a status that is not `ok`, for admins.
   */
  check(): Promise<{ value: number; unit?: string; status?: HealthCheckStatus; output?: string }>;
}

/**
 * Health checks behind `GET /server/health`, in plugin order. Plugins of lower floors name this facet by its id, with `"health":
 * {"optional": true}` in their manifests.
 */
export const health = facet<HealthCheck>('health', {
  describe: () => authorities('contributes to', ['the health check']),
});

/** A realtime transport that is on, as `GET /server/info` shows it. */
export interface WebsocketTransportInfo {
  readonly transport: 'rest' | 'graphql';
  readonly authentication: 'public' | 'handshake' | 'strict';
  readonly path: string;
  /** Seconds; false without heartbeats. */
  readonly heartbeat: number | false;
}

type TransportInfo = Pick<WebsocketTransportInfo, 'authentication' | 'path'>;

/** The block `websocket` of `GET /server/info` (specification, "Server endpoints"). */
export interface WebsocketInfo {
  readonly rest: TransportInfo | false;
  readonly graphql: TransportInfo | false;
  readonly heartbeat: number | false;
}

/** Realtime transports for `GET /server/info`, contributed by each plugin whose transport is on. False without any. */
export const websocketTransports = facet<WebsocketTransportInfo, WebsocketInfo | false>('server.websocket', {
  combine: (all) => {
    const infoOf = (name: WebsocketTransportInfo['transport']): TransportInfo | false => {
      const found = all.find(({ value }) => value.transport === name)?.value;
      return found ? { authentication: found.authentication, path: found.path } : false;
    };
    const [first] = all;
    return first ? { rest: infoOf('rest'), graphql: infoOf('graphql'), heartbeat: first.value.heartbeat } : false;
  },
  describe: () => authorities('contributes to', ['what the service says of its sockets']),
});
