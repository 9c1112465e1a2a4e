/** The settings of this plugin, as its manifest declares them. */
export interface RealtimeConfig {
  readonly WEBSOCKETS_ENABLED: boolean;
  readonly WEBSOCKETS_HEARTBEAT_ENABLED: boolean;
  readonly WEBSOCKETS_HEARTBEAT_PERIOD: number;
  readonly WEBSOCKETS_CONN_LIMIT: number;
  readonly WEBSOCKETS_ADDRESS_CONN_LIMIT: number;
  readonly WEBSOCKETS_PUBLIC_CONN_LIMIT: number;
  readonly WEBSOCKETS_SUBSCRIPTIONS_LIMIT: number;
  readonly WEBSOCKETS_MESSAGES_LIMIT: number;
  readonly WEBSOCKETS_MESSAGE_MAX_SIZE: number;
  readonly WEBSOCKETS_HISTORY_SIZE: number;
}

/** Settings of `http` that also apply to upgrades. */
export interface SharedHttpConfig {
  readonly CORS_ENABLED: boolean;
  readonly CORS_ORIGIN: readonly string[];
}

export interface RealtimeSettings {
  /** Seconds; false without heartbeats. */
  readonly heartbeat: number | false;
  /** Connections of this process: all, those of one address, those that have not authenticated. */
  readonly connections: { readonly all: number; readonly address: number; readonly public: number };
  /** Subscriptions of one client. */
  readonly subscriptions: number;
  /** Messages of one client within a second. */
  readonly messages: number;
  /** Bytes of one message of a client. */
  readonly messageSize: number;
  /** Bytes of recent changes that are kept for clients that come back. */
  readonly historySize: number;
  /** Origins of pages that may connect, beside those of the service's own host; true is any. */
  readonly origins: ReadonlySet<string> | true;
}

export const createRealtimeSettings = (config: RealtimeConfig, http: SharedHttpConfig): RealtimeSettings => ({
  heartbeat: config.WEBSOCKETS_HEARTBEAT_ENABLED && config.WEBSOCKETS_HEARTBEAT_PERIOD,
  connections: {
    all: config.WEBSOCKETS_CONN_LIMIT,
    address: config.WEBSOCKETS_ADDRESS_CONN_LIMIT,
    public: config.WEBSOCKETS_PUBLIC_CONN_LIMIT,
  },
  subscriptions: config.WEBSOCKETS_SUBSCRIPTIONS_LIMIT,
  messages: config.WEBSOCKETS_MESSAGES_LIMIT,
  messageSize: config.WEBSOCKETS_MESSAGE_MAX_SIZE,
  historySize: config.WEBSOCKETS_HISTORY_SIZE,
  origins: allowedOrigins(http),
});

const allowedOrigins = ({ CORS_ENABLED, CORS_ORIGIN }: SharedHttpConfig): ReadonlySet<string> | true => {
  if (!CORS_ENABLED) return new Set();
  return CORS_ORIGIN.includes('true') || CORS_ORIGIN.includes('*') ? true : new Set(CORS_ORIGIN);
};
