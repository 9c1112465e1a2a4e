import type { KernelCommand } from '#kernel';
import type { OrphanJanitor } from '../janitor.ts';
import { checkFilesAgainstStorage, type FileCheckDeps } from './storage-consistency-check.ts';

const USAGE = 'usage: files check [--repair]';

type Deps = Pick<FileCheckDeps, 'db' | 'storage'> & { readonly janitor: Pick<OrphanJanitor, 'sweep'> };

/** `files check [--repair]`: ends with 1 if a problem is left. */
export const filesCommand = ({ db, storage, janitor }: Deps): KernelCommand => ({
  name: 'files',
  about:
    'check [--repair]: compares files with the objects in storage; --repair removes objects that belong to no file',
  needs: 'start',
  check([verb, ...options]) {
    if (verb === 'check' && options.every((option) => option === '--repair')) return undefined;
    process.stderr.write(`${USAGE}\n`);
    return 1;
  },
  async run([, ...options]) {
    const repair = options.includes('--repair');
    await janitor.sweep();
    const report = (line: string) => void process.stdout.write(`${line}\n`);
    const progress = (line: string) => void process.stderr.write(`${line}\n`);
    const { brokenFiles, strays, strayBytes, removed } = await checkFilesAgainstStorage(
      { db, storage, report, progress },
      { repair },
    );
    report(
      `${brokenFiles} files are broken; ${strays} objects (${strayBytes} bytes) belong to no file, ${removed} of them removed`,
    );
    return brokenFiles > 0 || strays > removed ? 1 : 0;
  },
});
