import type { AppHalf } from '../extensions/contract.ts';

/** What `index.js` exports: an array of definitions each. `themes` is there for clients that ask for it. */
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

/** Of the module that is written here: this one imports nothing by a computed path. */
const IMPORT = 'import';
const REQUIRE = 'require';

export type BuildableHalf = AppHalf & { readonly file: string };

/**
 * The text of the module that gathers all halves. Each is evaluated by itself: one that throws is missing, and takes no
 * other with it. They are a part of the first chunk, but for those that wait for something while they are loaded.
 */
export function renderEntry(parts: readonly BuildableHalf[], waiting: ReadonlySet<BuildableHalf> = new Set()): string {
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
