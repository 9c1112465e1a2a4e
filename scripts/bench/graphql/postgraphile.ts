import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FreshDatabase } from '../../../test/support/database.ts';
import { type ForkedServer, forkServer } from '../fork-server.ts';
import { cpuProfileFlags } from '../service-process.ts';

const folder = new URL('./peer/', import.meta.url);

/**
 * Starts PostGraphile on the existing tables, and installs its packages where they are missing. `module`: the file in `peer` that serves
 * it.
 */
export function startPostGraphile(
  database: FreshDatabase,
  profile?: string,
  module = 'server.js',
): Promise<ForkedServer> {
  // npm writes this file when everything else of an installation is in place.
  if (!existsSync(new URL('node_modules/.package-lock.json', folder))) install();
  return forkServer(
    new URL(module, folder),
    { PEER_DATABASE_URL: database.url, NODE_ENV: 'production', GRAPHILE_ENV: 'production' },
    cpuProfileFlags(profile),
  );
}

/** Installs exactly the versions of PostGraphile's package-lock.json, without running scripts of the packages. */
function install(): void {
  console.error('Installing PostGraphile for the bench …');
  const path = process.env.npm_execpath;
  const [command, ...before]: [string, ...string[]] = path?.endsWith('js') ? [process.execPath, path] : ['npm'];
  const { status } = spawnSync(
    command,
    [...before, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: fileURLToPath(folder), stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (status !== 0) throw new Error(`"npm ci --ignore-scripts" in ${fileURLToPath(folder)} failed`);
}
