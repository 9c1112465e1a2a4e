import type { ExtensionAppPart } from '../extensions/contract.ts';

/** The exports of `index.js`, each an array of definitions. `themes` is empty, for clients that import it. */
const LISTS = {
  interface: 'interfaces',
  display: 'displays',
  layout: 'layouts',
  module: 'modules',
  panel: 'panels',
  'item-view': 'itemViews',
  operation: 'operations',
} as const;
const NAMES = [...Object.values(LISTS), 'themes'] as const;

/**
 * Keywords of the rendered module, kept out of template literals so that no tool takes them for imports of this one.
 */
const IMPORT = 'import';
const REQUIRE = 'require';

export type BuildableAppPart = ExtensionAppPart & { readonly file: string };

/**
 * Renders the module that imports the browser code of all extensions. The code of each is evaluated separately, so that an error
 * in one does not affect the others. All code is part of the first chunk except code with top-level await (`waiting`).
 */
export function renderAppEntryModule(
  parts: readonly BuildableAppPart[],
  waiting: ReadonlySet<BuildableAppPart> = new Set(),
): string {
  const lines = [
    "const missing = (name, error) => (console.error('The extension ' + name + ' cannot be loaded.', error), {});",
    'const taken = (name, take) => { try { return take(); } catch (error) { return missing(name, error); } };',
  ];
  for (const [at, part] of parts.entries()) {
    const { name, file } = part;
    const [path, shown] = [JSON.stringify(file), JSON.stringify(name)];
    lines.push(
      waiting.has(part)
        ? `const m${at} = await ${IMPORT}(${path}).catch((error) => missing(${shown}, error));`
        : `const m${at} = taken(${shown}, () => ${REQUIRE}(${path}));`,
    );
  }
  lines.push(`const many = (list) => (Array.isArray(list) ? list : []);`);
  for (const list of NAMES) {
    const members = parts.flatMap(({ type }, at) => {
      if (type === 'bundle') return [`...many(m${at}.${list})`];
      return LISTS[type as keyof typeof LISTS] === list ? [`m${at}.default`] : [];
    });
    lines.push(`export const ${list} = [${members.join(', ')}].filter(Boolean);`);
  }
  return lines.join('\n');
}
