import pg, { type ClientConfig } from 'pg';

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
  return ssl === true ? { PGSSLMODE: 'verify-full', PGSSLROOTCERT: 'system' } : { PGSSLMODE: 'require' };
}
