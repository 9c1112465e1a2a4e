import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unpackDebianPackages } from '../../support/debian-packages.ts';

export interface PythonCommand {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The command and environment of a Python with OpenStack Swift, whose Debian packages are unpacked into `node_modules/.swift`. */
export async function prepareSwiftPython(): Promise<PythonCommand> {
  const { root, libraryPath } = await unpackDebianPackages({
    names: ['python3-swift'],
    folder: '.swift',
    remedy: 'set TEST_S3_URL to http://KEY:SECRET@HOST:PORT/BUCKET, a bucket of a server of your own.',
  });
  const own = join(root, 'usr/bin/python3');
  return {
    program: existsSync(own) ? own : '/usr/bin/python3',
    env: {
      PYTHONPATH: join(root, 'usr/lib/python3/dist-packages'),
      PYTHONDONTWRITEBYTECODE: '1',
      LD_LIBRARY_PATH: libraryPath,
    },
  };
}
