import { spawnSync } from 'node:child_process';
import { join } from 'node:path/posix';

/** Runs `npm pack` on a folder, and answers the path of the archive in `target`. */
export function packFolder(folder: string, target: string): string {
  const args = ['pack', folder, '--pack-destination', target, '--loglevel=error'];
  const { status, stdout } = spawnSync('npm', args, {
    cwd: target,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm pack ${folder} failed`);
  return join(target, stdout.trim().split('\n').at(-1) as string);
}
