import type { KernelCommand } from '#kernel';
import type { Janitor } from '../janitor.ts';
import { type CheckDeps, checkFiles } from './check.ts';

const USAGE = 'usage: files check [--repair]';

type Deps = Pick<CheckDeps, 'db' | 'storage'> & { readonly janitor: Pick<Janitor, 'sweep'> };

/** `files check [--repair]`: 1 where something is wrong afterwards. */
export const filesCommand = ({ db, storage, janitor }: Deps): KernelCommand => ({
  name: 'files',
  about: 'check [--repair]: compares the files with the bytes in storage; --repair removes bytes that belong to none',
  needs: 'start',
  async run(args) {
    const [verb, ...options] = args;
    const unknown = options.find((option) => option !== '--repair');
    if (verb !== 'check' || unknown !== undefined) {
      process.stderr.write(`${USAGE}\n`);
      return 1;
    }
    const repair = options.includes('--repair');
    await janitor.sweep();
    const tell = (line: string) => void process.stdout.write(`${line}\n`);
    const progress = (line: string) => void process.stderr.write(`${line}\n`);
    const { broken, strays, strayBytes, removed } = await checkFiles({ db, storage, tell, progress }, { repair });
    tell(
      `${broken} files are broken; ${strays} objects (${strayBytes} bytes) belong to no file, ${removed} of them removed`,
    );
    return broken > 0 || strays > removed ? 1 : 0;
  },
});
