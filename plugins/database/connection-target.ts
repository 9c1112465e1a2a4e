import type { ClientConfig } from 'pg';
import { RemediableError } from './connect-error-remedies.ts';
import type { DatabaseConfig } from './settings.ts';

/** The driver's connection settings, and a label for messages, which never holds the password. */
export interface ConnectionTarget {
  readonly client: ClientConfig;
  readonly label: string;
}

/** The database of the DB_* settings; undefined where the embedded server is to be started. */
export function findConfiguredTarget(config: DatabaseConfig): ConnectionTarget | undefined {
  const ssl = parseTlsOptions(config);
  const shared: ClientConfig = { application_name: 'tenon', keepAlive: true, ...(ssl === undefined ? {} : { ssl }) };
  if (config.DB_CONNECTION_STRING) {
    return {
      client: { ...shared, connectionString: config.DB_CONNECTION_STRING },
      label: parseLocation(config.DB_CONNECTION_STRING),
    };
  }
  if (!config.DB_HOST) return undefined;
  for (const name of ['DB_DATABASE', 'DB_USER'] as const) {
    if (!config[name]) throw new RemediableError(`DB_HOST is set, but ${name} is not`, `set ${name}`);
  }
  const { DB_HOST: host, DB_PORT: port, DB_DATABASE: database, DB_USER: user, DB_PASSWORD: password } = config;
  return { client: { ...shared, host, port, database, user, password }, label: `${host}:${port}/${database}` };
}

/** How connections are encrypted; undefined where they are not. @throws RemediableError for one half of a key pair. */
function parseTlsOptions(config: DatabaseConfig): ClientConfig['ssl'] {
  const { DB_SSL: mode, DB_SSL__CA: ca, DB_SSL__CERT: cert, DB_SSL__KEY: key, DB_SSL__SERVERNAME: servername } = config;
  if ((cert === undefined) !== (key === undefined)) {
    const [present, missing] = cert === undefined ? ['DB_SSL__KEY', 'DB_SSL__CERT'] : ['DB_SSL__CERT', 'DB_SSL__KEY'];
    throw new RemediableError(`${present} is set, but ${missing} is not`, `set ${missing}, or unset ${present}`);
  }
  const own = Object.entries({ ca, cert, key, servername }).filter(([, value]) => value !== undefined);
  if (own.length === 0 && mode !== 'no-verify') return mode === 'true' ? true : undefined;
  return { ...Object.fromEntries(own), ...(mode === 'no-verify' ? { rejectUnauthorized: false } : {}) };
}

function parseLocation(text: string): string {
  if (!URL.canParse(text) || !/^postgres(ql)?:$/.test(new URL(text).protocol)) {
    throw new RemediableError(
      'DB_CONNECTION_STRING is not an address',
      'write it as postgres://user:password@host:5432/database; special characters in the password are percent-encoded',
    );
  }
  const { hostname, port, pathname, searchParams } = new URL(text);
  return `${hostname || searchParams.get('host') || 'localhost'}:${port || 5432}${pathname}`;
}
