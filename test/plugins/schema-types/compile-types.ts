import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const COMPILER = join(root, 'node_modules/.bin/tsc');

/** What every program of a test begins with. */
const PROLOGUE = `import { createDirectus, createItem, readItem, readItems, readMe, readSingleton, rest, updateItem } from '@directus/sdk';
import type { Schema } from './schema.ts';
export const client = createDirectus<Schema>('http://127.0.0.1').with(rest());
`;

/**
 * Compiles the types strictly with a program for the published client library, each of whose lines is a statement by itself. Answers
 * the numbers of the lines with an error, from 1, and the messages of the compiler.
 */
export async function compileWithTypes(
  types: string,
  lines: readonly string[],
): Promise<{ readonly failing: readonly number[]; readonly output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-types-'));
  try {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'schema.ts'), types);
    await writeFile(join(folder, 'program.ts'), PROLOGUE + lines.join('\n'));
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext'];
    const { stdout } = spawnSync(
      COMPILER,
      [...options, '--allowImportingTsExtensions', '--types', '', 'schema.ts', 'program.ts'],
      { cwd: folder, encoding: 'utf8' },
    );
    const before = PROLOGUE.split('\n').length - 1;
    const found = [...stdout.matchAll(/^program\.ts\((\d+),/gm)].map(([, line]) => Number(line) - before);
    const inTypes = [...stdout.matchAll(/^schema\.ts\(\d+,/gm)].map(() => 0);
    return { failing: [...new Set([...inTypes, ...found])], output: stdout };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
