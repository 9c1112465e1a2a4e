/** An error that says what to do about it; the boot prints the remedy below the reason. */
export class RemediableError extends Error {
  readonly remedy: string;

  constructor(reason: string, remedy: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'Remediable';
    this.remedy = remedy;
  }
}

const SETTINGS = 'DB_CONNECTION_STRING, or DB_HOST and the other DB_* settings';

/**
 * Turns a failed connection into a reason and a remedy. The text may quote the driver, but no secrets. `label` names
 * the database.
 */
export function toConnectError(error: unknown, label: string): RemediableError {
  if (error instanceof RemediableError) return error;
  const { code, message } = findRootCause(error);
  const remediable = (reason: string, remedy: string) => new RemediableError(reason, remedy, undefined);
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return remediable(`the host of the database ${label} is unknown`, `correct the host in ${SETTINGS}`);
    case 'ECONNREFUSED':
      return remediable(
        `nothing answers at ${label}`,
        `start the database there, or correct host and port in ${SETTINGS}`,
      );
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return remediable(`the database ${label} cannot be reached (${code})`, 'check network, firewall, host and port');
    case '28P01':
      return remediable(
        `the database ${label} refuses user name or password`,
        'correct DB_USER and DB_PASSWORD, or the connection string',
      );
    case '28000':
      return remediable(
        `the database ${label} refuses this user: ${message}`,
        'correct DB_USER or DB_SSL, or allow the user in pg_hba.conf',
      );
    case '3D000':
      return remediable(`there is no database ${label}`, 'create it, or correct DB_DATABASE or the connection string');
    case '53300':
      return remediable(
        `the database ${label} has no connection left`,
        'raise its max_connections or lower DB_POOL_MAX',
      );
    case '42501':
      return remediable(
        `the user of the database ${label} may not do what is needed: ${message}`,
        'grant it the right to use the schema and create tables in it',
      );
  }
  if (/client password must be a string/.test(message))
    return remediable(`the database ${label} asks for a password`, 'set DB_PASSWORD');
  if (/does not support SSL/.test(message))
    return remediable(`the database ${label} does not offer TLS`, 'set DB_SSL=false');
  if (/certificate/i.test(message)) {
    return remediable(
      `the certificate of the database ${label} is not trusted: ${message}`,
      'trust it (DB_SSL__CA), or set DB_SSL=no-verify',
    );
  }
  if (/timeout|timed out/i.test(message)) {
    return remediable(`the database ${label} does not answer in time`, 'check network, firewall, host and port');
  }
  return remediable(`the database ${label} cannot be used: ${message}`, `check the database and ${SETTINGS}`);
}

/** A host with several addresses fails with several errors in one. */
function findRootCause(error: unknown): { code: string | undefined; message: string } {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { code, message } = (first ?? {}) as { code?: string; message?: string };
  return { code, message: message ?? String(first) };
}
