import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Absolute path of the dynamic loader of this Node; null where Node is linked statically. */
export function findDynamicLoader(): string | null {
  // The types do not know the property yet.
  const report = process.report as (NodeJS.ProcessReport & { excludeNetwork: boolean }) | undefined;
  if (report === undefined) return null;
  const before = report.excludeNetwork;
  // Without this the report resolves the host name of every connected peer.
  report.excludeNetwork = true;
  try {
    const { sharedObjects } = report.getReport() as { readonly sharedObjects: readonly string[] };
    return sharedObjects.find((path) => path.startsWith('/') && /^(ld-|ld\d*\.so)/.test(basename(path))) ?? null;
  } finally {
    report.excludeNetwork = before;
  }
}

/**
 * Absolute paths of the libraries that a program or a native addon loads, as the loader resolves them, the loader
 * included. Rejects where the loader fails.
 */
export async function listDynamicLibraryPaths(path: string, loader: string): Promise<readonly string[]> {
  const { stdout } = await run(loader, ['--list', path], { env: {}, timeout: 10_000 });
  const found = stdout.split('\n').flatMap((line) => line.match(/(?:=> )?(\/\S+) \(0x[0-9a-f]+\)/)?.[1] ?? []);
  return [...new Set([loader, ...found])];
}
