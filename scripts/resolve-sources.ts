import { registerHooks } from 'node:module';

const ROOT = new URL('../', import.meta.url).href;
const OWN = ['kernel', 'plugins', 'sandbox', 'scripts'].map((folder) => `${ROOT}${folder}/`);
const KERNEL = new URL('kernel/index.ts', ROOT).href;

/**
 * Resolves imports between source files of the service without the file system. Node would follow links and look for a
 * package.json for each of them, which is a tenth of a start. Imports by third-party packages, and imports of packages by source
 * files, are left to Node.
 */
export function registerServiceImportResolver(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const isSource = specifier === '#kernel' || (specifier.startsWith('.') && specifier.endsWith('.ts'));
      if (!isSource || !OWN.some((folder) => context.parentURL?.startsWith(folder))) return next(specifier, context);
      const url = specifier === '#kernel' ? KERNEL : new URL(specifier, context.parentURL).href;
      return { url, format: 'module-typescript', shortCircuit: true };
    },
  });
}
