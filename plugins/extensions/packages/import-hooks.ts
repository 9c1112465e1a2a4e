import { readFileSync } from 'node:fs';
import { findPackageJSON, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const KERNEL = import.meta.resolve('#kernel');
const SDK = new URL('../../../extensions/sdk/index.ts', import.meta.url).href;

/**
 * Modules that packages in any folder import by name, with the files of the running service: by the names of the sources, and by
 * those of the installed package.
 */
const SERVICE_MODULES: Readonly<Record<string, string>> = {
  '@tenon/kernel': KERNEL,
  'tenon/kernel': KERNEL,
  '@tenon/extension-sdk': SDK,
  'tenon/extension': SDK,
};
const SERVICE = new URL('../../../', import.meta.url).href;

/**
 * Lets packages in any folder import `tenon/kernel` and `tenon/extension`. Node looks for them beside the
 * package, where the service may not write, and where a second service would find the first one's. A copy that a
 * package brings along is not
 * used: facet keys and error classes are compared by identity, so one process has one kernel (ADR 31). Answers a
 * function that removes the hooks.
 */
export function registerImportHooks(): () => void {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const url = SERVICE_MODULES[resolveTarget(specifier, context.parentURL) ?? ''];
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
  return () => hooks.deregister();
}

/** Names such as `#kernel` are defined in the package.json of the importing package. */
function resolveTarget(specifier: string, parent: string | undefined): string | undefined {
  if (!specifier.startsWith('#')) return specifier;
  if (parent === undefined || !parent.startsWith('file:') || parent.startsWith(SERVICE)) return undefined;
  const path = findPackageJSON('.', fileURLToPath(parent));
  if (path === undefined) return undefined;
  const { imports } = JSON.parse(readFileSync(path, 'utf8')) as { imports?: Readonly<Record<string, unknown>> };
  const target = imports?.[specifier];
  return typeof target === 'string' ? target : undefined;
}
