import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { BackupError } from '../failures.ts';

/** Characters of a program's messages that an error repeats. */
const MAX_MESSAGE = 2000;

interface ProgramRun {
  readonly program: string;
  readonly args: readonly string[];
  /** How the program connects. */
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * Runs a program of PostgreSQL to its end. Answers what it wrote to standard output.
 * @throws BackupError with its messages where it fails, and the reason of the signal.
 */
export async function runPostgresProgram({ program, args, environment, signal }: ProgramRun): Promise<string> {
  const child = spawn(program, [...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', ...environment },
    signal,
    killSignal: 'SIGTERM',
  });
  const [output, messages]: [string[], string[]] = [[], []];
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => messages.push(text));
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  failed.catch(() => {});
  const [code] = await Promise.race([once(child, 'close'), failed]);
  signal.throwIfAborted();
  if (code !== 0) throw toProgramError(program, messages.join('').trim().slice(0, MAX_MESSAGE));
  return output.join('');
}

function toProgramError(program: string, message: string): BackupError {
  const name = program.slice(program.lastIndexOf('/') + 1);
  return new BackupError(`${name} failed: ${message}`, findRemedy(message));
}

function findRemedy(message: string): string {
  if (/server version mismatch/.test(message))
    return 'install the client programs of the version of the server, or name them in POSTGRES_PROGRAMS_PATH';
  // libpq knows the certificates of the system since version 16.
  if (/root certificate file|certificate verify failed|does not match host name/.test(message))
    return 'name the file of the certificate that signs that of the database, by sslrootcert=/path/ca.pem in DB_CONNECTION_STRING; client programs before version 16 need it for any certificate';
  if (
    /permission denied to change default privileges|no privileges (were|could be) (granted|revoked)|Command was: (GRANT|REVOKE)/.test(
      message,
    )
  )
    return 'use a database user that may grant these privileges, or restore with --no-owner --no-privileges';
  if (/permission denied/.test(message))
    return 'use a database user that may read all tables and sequences, such as their owner';
  if (/must be (superuser|owner|able to SET ROLE|member)/.test(message))
    return 'use a database user that may own what is restored, or restore with --no-owner';
  if (/role ".*" does not exist/.test(message)) return 'create the role, or restore with --no-owner';
  if (/cannot drop|depend/.test(message)) return 'restore into an empty database';
  return 'correct what PostgreSQL says, and repeat the command';
}
