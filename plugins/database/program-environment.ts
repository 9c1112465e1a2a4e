import pg, { type ClientConfig } from 'pg';
import { RemediableError } from './connect-error-remedies.ts';

/** How the driver encrypts its connections. */
type TlsOptions = Exclude<NonNullable<ClientConfig['ssl']>, boolean>;
type TlsVariables = Readonly<Record<string, string>>;

/**
 * The variables by which programs such as pg_dump connect as the driver does. Variables and not arguments, which every user of the
 * machine can read.
 * @throws RemediableError where the settings have certificates, or a name of the server
 */
export function renderProgramEnvironment(config: ClientConfig): Readonly<Record<string, string>> {
  // The driver reads the connection string and its defaults; a client that never connects tells the result.
  const { host, port, user, database, password, ssl } = new pg.Client(config) as pg.Client & {
    readonly password: unknown;
    readonly ssl: boolean | string | TlsOptions;
  };
  return {
    PGHOST: host,
    PGPORT: String(port),
    ...(user ? { PGUSER: user } : {}),
    ...(database ? { PGDATABASE: database } : {}),
    ...(typeof password === 'string' ? { PGPASSWORD: password } : {}),
    ...renderTlsVariables(typeof ssl === 'string' ? ssl !== '' : ssl, readParameters(config.connectionString)),
    PGAPPNAME: config.application_name ?? 'tenon',
    PGCLIENTENCODING: 'UTF8',
  };
}

const readParameters = (text: string | undefined): URLSearchParams =>
  text && URL.canParse(text) ? new URL(text).searchParams : new URLSearchParams();

/**
 * `ssl` is what the driver does. The parameter `sslmode` has other meanings for it than for libpq: the driver verifies the certificate
 * and its name by `require` and `prefer`, too.
 */
function renderTlsVariables(ssl: boolean | TlsOptions, parameters: URLSearchParams): TlsVariables {
  if (ssl === false) return parameters.get('sslmode') === 'disable' ? { PGSSLMODE: 'disable' } : {};
  const { ca, cert, rejectUnauthorized, servername, checkServerIdentity } = ssl === true ? {} : ssl;
  const [rootFile, certFile, keyFile] = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => parameters.get(name));
  // The programs take files, and would send the password to a server that nothing verified.
  if ((ca && !rootFile) || (cert && !certFile) || servername)
    throw new RemediableError(
      'pg_dump and pg_restore cannot use the certificates and the name of the settings DB_SSL__*',
      'name files in the connection string for these commands: DB_CONNECTION_STRING=postgres://…?sslmode=verify-full&sslrootcert=/path/ca.pem',
    );
  const own: TlsVariables = certFile && keyFile ? { PGSSLCERT: certFile, PGSSLKEY: keyFile } : {};
  if (rejectUnauthorized === false) return { PGSSLMODE: 'require', ...own };
  // The driver passes its own check of the name only where the connection string asks for none (`uselibpqcompat`).
  const mode = checkServerIdentity ? 'verify-ca' : 'verify-full';
  return { PGSSLMODE: mode, PGSSLROOTCERT: rootFile ?? 'system', ...own };
}
