import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { OUTPUT_FOLDER, type PackageFiles, ROOT } from './folders.ts';
import { listImports, rewriteCompiledFile, rewriteDeclarations } from './rewrite-imports.ts';
import { rewriteVendoredImports } from './vendored-packages.ts';

/** Declarations that the package exports; those that they import come along. */
const EXPORTED_DECLARATIONS = ['kernel/index.d.ts', 'extensions/sdk/index.d.ts'];
const CONTRACT = /^plugins\/[^/]+\/contract\.d\.ts$/;

/** Compiles the sources, those only that changed since the last call, and adds JavaScript and declarations to `files`. */
export function addCompiledFiles(files: PackageFiles): void {
  compile('tsconfig.json');
  for (const path of listOutputs('compiled', '.js')) {
    // The compiler leaves behind what it once made of a source that is gone.
    if (!existsSync(join(ROOT, path.replace(/\.js$/, '.ts')))) continue;
    const text = readFileSync(join(OUTPUT_FOLDER, 'compiled', path), 'utf8');
    files.set(path, rewriteVendoredImports(path, rewriteCompiledFile(path, text)));
  }
  compile('tsconfig.types.json');
  addDeclarations(files);
}

function compile(project: string): void {
  const { status, stdout } = spawnSync(
    join(ROOT, 'node_modules/.bin/tsc'),
    ['--project', join(ROOT, 'scripts/pack', project)],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`the sources do not compile:\n${stdout}`);
}

const listOutputs = (folder: string, ending: string): readonly string[] =>
  globSync(`**/*${ending}`, { cwd: join(OUTPUT_FOLDER, folder) });

/** Follows the imports of the exported declarations, so that the package has no others. */
function addDeclarations(files: PackageFiles): void {
  const contracts = listOutputs('declarations', '.d.ts').filter((path) => CONTRACT.test(path));
  const waiting = [...EXPORTED_DECLARATIONS, ...contracts];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path) || !existsSync(join(ROOT, path.replace(/\.d\.ts$/, '.ts')))) continue;
    const text = rewriteDeclarations(path, readFileSync(join(OUTPUT_FOLDER, 'declarations', path), 'utf8'));
    files.set(path, text);
    for (const specifier of listImports(text)) {
      if (specifier.startsWith('.') && specifier.endsWith('.js'))
        waiting.push(join(dirname(path), specifier).replace(/\.js$/, '.d.ts'));
    }
  }
}
