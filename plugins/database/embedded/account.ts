import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { RemediableError } from '../connect-failure.ts';

/** A system user a child process runs as; undefined means: as ourselves. */
export interface SystemAccount {
  readonly uid: number;
  readonly gid: number;
}

const ACCOUNT_NAMES = ['postgres', 'tenon'];

/** PostgreSQL refuses to run as root. Then a user made for such things runs it, else one that we make. */
export async function findServerAccount(): Promise<SystemAccount | undefined> {
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
  // Another process may be making it at this moment: then ours failed, and the user comes a little later.
  for (let tries = 0; tries < 20; tries++) {
    const created = await findAccount();
    if (created) return created;
    await wait(100);
  }
  throw new RemediableError(
    'PostgreSQL does not run as root, and no system user could be made to run it',
    'start as an ordinary user, make a system user called tenon, or set DB_CONNECTION_STRING or DB_HOST',
  );
}

async function findAccount(): Promise<SystemAccount | undefined> {
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

/** PostgreSQL's programs get nothing of our environment: it holds secrets, and `PG*` names that would mislead them. */
export const childEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/** Runs a program to its end, as the given user. The working folder is one that everybody may enter. */
export async function runProgram(
  file: string,
  args: readonly string[],
  account?: SystemAccount,
): Promise<ProgramResult> {
  const child = spawn(file, args, { ...account, cwd: '/', env: childEnvironment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  try {
    const [code] = await once(child, 'close');
    return { code, output };
  } catch (error) {
    return { code: null, output: String(error) };
  }
}

/** Asked of the system by trying it as that user: modes, groups and access lists all have their say. */
export const canAccess = async (account: SystemAccount | undefined, mode: 'x' | 'r', path: string): Promise<boolean> =>
  (await runProgram('test', [`-${mode}`, path], account)).code === 0;
