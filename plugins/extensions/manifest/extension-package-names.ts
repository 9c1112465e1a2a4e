import type { ExtensionType } from '../extension-types.ts';

/** Package names that mark a package as an extension (conventions, "Package names and discovery"). */
const NAMES = [/^service-extension-(.+)$/, /^@[^/]+\/service-extension-(.+)$/, /^@service\/extension-(.+)$/] as const;

export const isExtensionName = (name: string): boolean => NAMES.some((pattern) => pattern.test(name));

/** `@acme/service-extension-orders` → `orders`: where an endpoint without an id of its own is mounted. */
export function stripExtensionNamePrefix(name: string): string {
  for (const pattern of NAMES) {
    const rest = pattern.exec(name)?.[1];
    if (rest !== undefined) return rest;
  }
  return name.replace(/^@[^/]+\//, '');
}

/** The type of extension in each folder of the single-file layout under EXTENSIONS_PATH. */
export const EXTENSION_TYPE_BY_FOLDER = {
  interfaces: 'interface',
  displays: 'display',
  layouts: 'layout',
  modules: 'module',
  panels: 'panel',
  'item-views': 'item-view',
  hooks: 'hook',
  endpoints: 'endpoint',
  operations: 'operation',
} as const satisfies Record<string, ExtensionType>;

/** Folders under EXTENSIONS_PATH that belong to other conventions. */
export const NON_EXTENSION_FOLDERS: readonly string[] = ['migrations', 'templates', 'node_modules'];
