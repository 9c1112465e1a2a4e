import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { RemediableError } from '../connect-error-remedies.ts';

/** The system user that a child process runs as; undefined is the user of this process. */
export interface OperatingSystemAccount {
  readonly uid: number;
  readonly gid: number;
}

const ACCOUNT_NAMES = ['postgres', 'tenon'];

/**
 * PostgreSQL refuses to run as root: then the user `postgres` or `tenon` runs it. Creates `tenon` where neither exists.
 */
export async function findServerAccount(): Promise<OperatingSystemAccount | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const found = await findAccount();
  if (found) return found;
  await runProgram('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    'tenon',
  ]);
  // Another process may create the user at the same time: then `useradd` fails here, and the user appears a moment
  // later.
  for (let tries = 0; tries < 20; tries++) {
    const created = await findAccount();
    if (created) return created;
    await wait(100);
  }
  throw new RemediableError(
    'PostgreSQL does not run as root, and no system user could be created to run it',
    'start as an ordinary user, create a system user called tenon, or set DB_CONNECTION_STRING or DB_HOST',
  );
}

async function findAccount(): Promise<OperatingSystemAccount | undefined> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  for (const name of ACCOUNT_NAMES) {
    const [, , uid, gid] = lines.find(([user]) => user === name) ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

export interface ProgramResult {
  /** Null where the program could not be started at all. */
  readonly code: number | null;
  readonly output: string;
}

/**
 * PostgreSQL's programs do not inherit the environment: it holds secrets, and `PG*` variables that would configure
 * them.
 */
export const postgresEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/** Runs a program to its end as `account`, in `/`, which every user may enter. */
export async function runProgram(
  file: string,
  args: readonly string[],
  account?: OperatingSystemAccount,
): Promise<ProgramResult> {
  const child = spawn(file, args, {
    ...account,
    cwd: '/',
    env: postgresEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  try {
    const [code] = await once(child, 'close');
    return { code, output };
  } catch (error) {
    return { code: null, output: String(error) };
  }
}

/**
 * Whether the account may enter (`x`) or read (`r`) a path. Runs `test` as that user, so that modes, groups and access lists all
 * count.
 */
export const canAccountAccessPath = async (
  account: OperatingSystemAccount | undefined,
  mode: 'x' | 'r',
  path: string,
): Promise<boolean> => (await runProgram('test', [`-${mode}`, path], account)).code === 0;
