import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * Path of the prebuilt addon of isolated-vm for this Node. The child loads it by path and needs no other file. Throws
 * where there is none for this platform.
 */
export function findIsolatedVmAddonPath(): string {
  const folder = join(
    dirname(require.resolve('isolated-vm/package.json')),
    'prebuilds',
    `${process.platform}-${process.arch}`,
  );
  const libc = process.platform === 'linux' ? `.${isGlibc() ? 'glibc' : 'musl'}` : '';
  const file = join(folder, `isolated-vm.abi${process.versions.modules}${libc}.node`);
  if (!existsSync(file)) {
    throw new Error(
      `isolated-vm has no file for Node ${process.version} on ${process.platform}-${process.arch}${libc}`,
    );
  }
  return file;
}

/** Whether Node runs on glibc: only then its diagnostic report names a glibc version. */
function isGlibc(): boolean {
  const report = process.report as unknown as { excludeNetwork: boolean; getReport(): unknown };
  const before = report.excludeNetwork;
  // Without this the report resolves the host names of all open connections.
  report.excludeNetwork = true;
  try {
    const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } };
    return header.glibcVersionRuntime !== undefined;
  } finally {
    report.excludeNetwork = before;
  }
}
