import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A user without rights, with an empty folder of its own. */
export interface OrdinaryUser {
  /** Undefined where this process is no root: then it is the user that runs it. */
  readonly account: { readonly uid: number; readonly gid: number } | undefined;
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Runs a command in the folder. @throws Error with its output where it fails. */
  run(program: string, ...args: readonly string[]): string;
  /** Removes the folder, and the user. */
  remove(): void;
}

/** Creates a system user where this process is root. */
export function createOrdinaryUser(name: string): OrdinaryUser {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  const account = process.getuid?.() === 0 ? createAccount(name, folder) : undefined;
  const environment = {
    // The Node that runs this script, for npm as well.
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: folder,
    npm_config_cache: join(folder, '.npm'),
    // npm looks for the settings of the machine beside Node, which is another one here.
    npm_config_globalconfig: spawnSync('npm', ['config', 'get', 'globalconfig'], { encoding: 'utf8' }).stdout.trim(),
  };
  return {
    account,
    folder,
    environment,
    run(program, ...args) {
      const { status, stdout, stderr } = spawnSync(program, [...args], {
        cwd: folder,
        env: environment,
        encoding: 'utf8',
        ...account,
      });
      if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`);
      return stdout;
    },
    remove() {
      rmSync(folder, { recursive: true, force: true });
      if (account) spawnSync('userdel', [name]);
    },
  };
}

function createAccount(name: string, folder: string): { readonly uid: number; readonly gid: number } {
  spawnSync('useradd', ['--system', '--user-group', '--home-dir', folder, '--shell', '/bin/sh', name]);
  const idOf = (flag: string): number => {
    const { status, stdout, stderr } = spawnSync('id', [flag, name], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the user ${name} cannot be made: ${stderr}`);
    return Number(stdout);
  };
  const account = { uid: idOf('-u'), gid: idOf('-g') };
  chownSync(folder, account.uid, account.gid);
  return account;
}
