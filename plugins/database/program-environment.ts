import pg, { type ClientConfig } from 'pg';
import { RemediableError } from './connect-error-remedies.ts';

/** Parameters of a connection string that libpq reads as variables. */
const TLS_PARAMETERS = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
} as const;

/**
 * The variables by which programs such as pg_dump connect as the driver does. Variables and not arguments, which every user of the
 * machine can read.
 * @throws RemediableError where the settings have certificates, or a name of the server
 */
export function renderProgramEnvironment(config: ClientConfig): Readonly<Record<string, string>> {
  // The driver reads the connection string and its defaults; a client that never connects tells the result.
  const { host, port, user, database, password } = new pg.Client(config) as pg.Client & { readonly password: unknown };
  return {
    PGHOST: host,
    PGPORT: String(port),
    ...(user ? { PGUSER: user } : {}),
    ...(database ? { PGDATABASE: database } : {}),
    ...(typeof password === 'string' ? { PGPASSWORD: password } : {}),
    ...renderTlsVariables(config),
    PGAPPNAME: config.application_name ?? 'tenon',
    PGCLIENTENCODING: 'UTF8',
  };
}

function renderTlsVariables({ connectionString, ssl }: ClientConfig): Readonly<Record<string, string>> {
  const params =
    connectionString && URL.canParse(connectionString) ? new URL(connectionString).searchParams : undefined;
  const own = Object.entries(TLS_PARAMETERS).flatMap(([name, variable]) => {
    // Of the driver alone: libpq encrypts without checking the certificate by `require`.
    const value = params?.get(name)?.replace('no-verify', 'require');
    return value ? [[variable, value]] : [];
  });
  if (own.length > 0) return Object.fromEntries(own);
  if (ssl === undefined || ssl === false) return {};
  if (ssl === true) return { PGSSLMODE: 'verify-full', PGSSLROOTCERT: 'system' };
  // The programs take files, and would send the password to a server that nothing verified.
  if (ssl.ca || ssl.cert || ssl.servername)
    throw new RemediableError(
      'pg_dump and pg_restore cannot use the certificates and the name of the settings DB_SSL__*',
      'name files in the connection string for these commands: DB_CONNECTION_STRING=postgres://…?sslmode=verify-full&sslrootcert=/path/ca.pem',
    );
  return { PGSSLMODE: 'require' };
}
