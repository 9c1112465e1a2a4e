/** The settings of the plugin `database`, as its manifest declares them. */
export interface DatabaseConfig {
  readonly DB_CONNECTION_STRING?: string;
  readonly DB_HOST?: string;
  readonly DB_PORT: number;
  readonly DB_DATABASE?: string;
  readonly DB_USER?: string;
  readonly DB_PASSWORD?: string;
  readonly DB_SSL: 'true' | 'false' | 'no-verify';
  readonly DB_SSL__CA?: string;
  readonly DB_SSL__CERT?: string;
  readonly DB_SSL__KEY?: string;
  readonly DB_SSL__SERVERNAME?: string;
  readonly DB_SCHEMAS: readonly string[];
  readonly DB_POOL_MIN: number;
  readonly DB_POOL_MAX: number;
  /** Milliseconds that a statement waits for a connection of the pool. */
  readonly DB_POOL_WAIT_TIMEOUT: number;
  /** Milliseconds; 0 is no limit. */
  readonly DB_STATEMENT_TIMEOUT: number;
  /** Milliseconds. */
  readonly DB_HEALTHCHECK_THRESHOLD: number;
  readonly DB_ALLOW_NEWER_SCHEMA: boolean;
  readonly DATA_PATH: string;
}
