import { registerHooks } from 'node:module';
import { extname } from 'node:path';

/** `.ts` in a checkout; `.js` in the installed package, whose sources are compiled. */
const EXTENSION = extname(import.meta.url);
const FORMAT = EXTENSION === '.ts' ? 'module-typescript' : 'module';
const ROOT = new URL('../', import.meta.url).href;
const OWN = ['kernel', 'plugins', 'sandbox', 'scripts'].map((folder) => `${ROOT}${folder}/`);
const KERNEL = new URL(`kernel/index${EXTENSION}`, ROOT).href;

/**
 * Resolves imports between source files of the service without the file system. Node would follow links and look for a
 * package.json for each of them, which is a tenth of a start. Imports by third-party packages, and imports of packages by source
 * files, are left to Node.
 */
export function registerServiceImportResolver(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const isSource = specifier === '#kernel' || (specifier.startsWith('.') && specifier.endsWith(EXTENSION));
      if (!isSource || !OWN.some((folder) => context.parentURL?.startsWith(folder))) return next(specifier, context);
      const url = specifier === '#kernel' ? KERNEL : new URL(specifier, context.parentURL).href;
      return { url, format: FORMAT, shortCircuit: true };
    },
  });
}
