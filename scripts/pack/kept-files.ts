import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { OUTPUT_FOLDER, PACKAGE_FOLDER, type PackageFiles } from './folders.ts';

interface KeptList {
  readonly key: string;
  readonly paths: readonly string[];
}

/**
 * Adds the files that `build` makes, those of the last run where `sources`, everything that they are made from, is as
 * it was then.
 */
export async function addKeptFiles(
  files: PackageFiles,
  name: string,
  sources: unknown,
  build: (files: PackageFiles) => Promise<void>,
): Promise<void> {
  const path = join(OUTPUT_FOLDER, `${name}.json`);
  const key = createHash('sha256').update(JSON.stringify(sources)).digest('hex');
  const last = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as KeptList) : undefined;
  if (last?.key === key && last.paths.every((one) => existsSync(join(PACKAGE_FOLDER, one)))) {
    for (const one of last.paths) files.set(one, readFileSync(join(PACKAGE_FOLDER, one)));
    return;
  }
  const built: PackageFiles = new Map();
  await build(built);
  for (const [one, content] of built) files.set(one, content);
  writeFileSync(path, JSON.stringify({ key, paths: [...built.keys()] } satisfies KeptList));
}
