import { BootFailure, type PluginInfo } from '#kernel';

type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface Claim {
  readonly facet: string;
  readonly entry: string;
}

/** Facets whose entries are not exclusive: any number of plugins may contribute to one. */
const SHARED: ReadonlySet<string> = new Set(['http.middleware', 'flows.operations']);

/** The names, tables, paths and prefixes that a manifest lists under `contributes`. */
const listClaims = ({ manifest }: PluginInfo): readonly Claim[] =>
  Object.entries((manifest.contributes ?? {}) as Sections).flatMap(([facet, section]) =>
    SHARED.has(facet)
      ? []
      : Object.values(section).flatMap((list) =>
          Array.isArray(list) ? list.map((entry) => ({ facet, entry: String(entry) })) : [],
        ),
  );

const firstSegment = (path: string): string => path.split('/').find((part) => part !== '') ?? '';

/** Facets of paths: a plugin claims everything under the first segment of a path. */
const PATHS: ReadonlySet<string> = new Set(['http.routes', 'http.upgrade', 'http.reserved']);

function isOverlapping(a: Claim, b: Claim): boolean {
  if (PATHS.has(a.facet) && PATHS.has(b.facet)) return firstSegment(a.entry) === firstSegment(b.entry);
  return a.facet === b.facet && a.entry === b.entry;
}

/**
 * Refuses a third-party plugin that claims a path, table, GraphQL field, driver or other name of a loaded plugin.
 * @throws BootFailure that names both plugins.
 */
export function assertNoDuplicatePluginClaims(plugin: PluginInfo, loaded: readonly PluginInfo[]): void {
  for (const other of loaded) {
    if (other.folder === plugin.folder) continue;
    const otherClaims = listClaims(other);
    for (const claim of listClaims(plugin)) {
      if (!otherClaims.some((one) => isOverlapping(claim, one))) continue;
      throw new BootFailure(
        plugin.name,
        'validate',
        `${claim.entry} (${claim.facet}) already belongs to ${other.name}`,
        {
          remedy: 'rename it in the package',
        },
      );
    }
  }
}
