import { BootFailure } from '#kernel';

export interface RedisConfig {
  REDIS_ENABLED: boolean | undefined;
  REDIS: string | undefined;
  REDIS_HOST: string | undefined;
  REDIS_PORT: number;
  REDIS_USERNAME: string | undefined;
  REDIS_PASSWORD: string | undefined;
  REDIS_DB: number;
}

/** Where Redis is. `address` is for the log and has no password. */
export interface RedisServer {
  readonly address: string;
  readonly url?: string;
  readonly options: {
    readonly host?: string;
    readonly port?: number;
    readonly username?: string;
    readonly password?: string;
    readonly db?: number;
  };
}

const createConfigFailure = (reason: string, remedy: string) =>
  new BootFailure('@tenon/redis', 'config', reason, { remedy });

/** The server that the settings name; undefined for none. @throws BootFailure for settings that contradict one another. */
export function parseRedisServer(config: RedisConfig): RedisServer | undefined {
  const { REDIS: url, REDIS_HOST: host, REDIS_ENABLED: isEnabled } = config;
  if (isEnabled === false) return undefined;
  if (url !== undefined && host !== undefined)
    throw createConfigFailure('REDIS and REDIS_HOST both name a server', 'unset one of them');
  if (url !== undefined) return parseUrl(url, config);
  if (host !== undefined) return serverOfParts(host, config);
  if (isEnabled)
    throw createConfigFailure(
      'REDIS_ENABLED is true, but no server is named',
      'set REDIS or REDIS_HOST, or unset REDIS_ENABLED',
    );
  return undefined;
}

/** The port that REDIS_PORT and addresses without one stand for. */
const DEFAULT_PORT = 6379;

function parseUrl(url: string, { REDIS_USERNAME, REDIS_PASSWORD, REDIS_PORT, REDIS_DB }: RedisConfig): RedisServer {
  if (REDIS_USERNAME !== undefined || REDIS_PASSWORD !== undefined)
    throw createConfigFailure(
      'REDIS_USERNAME and REDIS_PASSWORD have no effect beside REDIS',
      'write them into the URL, or set REDIS_HOST in place of REDIS',
    );
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // The URL may contain a password, so that the message does not repeat it.
  if (!parsed || !/^rediss?:$/.test(parsed.protocol) || parsed.hostname === '' || !/^\/?\d*$/.test(parsed.pathname))
    throw createConfigFailure(
      'REDIS is no address of a Redis',
      'write it as redis://user:password@host:6379/0, or rediss:// for TLS; encode special characters of the password',
    );
  const port = Number(parsed.port || DEFAULT_PORT);
  if (REDIS_PORT !== DEFAULT_PORT && REDIS_PORT !== port)
    throw createConfigFailure(
      `REDIS_PORT is ${REDIS_PORT}, and REDIS names the port ${port}`,
      'write the port into the URL, and unset REDIS_PORT',
    );
  const db = parsed.pathname.slice(1) || parsed.searchParams.get('db');
  if (REDIS_DB !== 0 && db && REDIS_DB !== Number(db))
    throw createConfigFailure(
      `REDIS_DB is ${REDIS_DB}, and REDIS names the database ${db}`,
      'name the database in one of them only',
    );
  return { address: `${parsed.hostname}:${port}`, url, options: db ? {} : { db: REDIS_DB } };
}

function serverOfParts(
  host: string,
  { REDIS_PORT: port, REDIS_USERNAME: username, REDIS_PASSWORD: password, REDIS_DB: db }: RedisConfig,
): RedisServer {
  if (username !== undefined && password === undefined)
    throw createConfigFailure('REDIS_USERNAME has no password', 'set REDIS_PASSWORD, or unset REDIS_USERNAME');
  const login = { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
  return { address: `${host}:${port}`, options: { host, port, db, ...login } };
}
