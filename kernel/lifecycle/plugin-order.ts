import satisfies from 'semver/functions/satisfies.js';
import { KERNEL_CAPABILITIES } from '../capabilities/kernel-capabilities.ts';
import type { PluginPackage } from '../manifest/validate.ts';
import { BootFailure } from './boot-failure.ts';
import { KERNEL_FACETS } from './kernel-facets.ts';

/**
 * Plugins in the order in which they may register: providers before users, and plugins that define a capability before those that
 * hold it. Facets order nothing: contributions wait for their owner. Ties keep the order of the list.
 * @throws BootFailure for a missing provider, and for a cycle, which is printed as a path.
 */
export function sortPlugins<P extends PluginPackage>(plugins: readonly P[]): readonly P[] {
  const needs = new Map(plugins.map((plugin) => [plugin, findNeeds(plugin, plugins)]));
  const sorted = new Set<P>();
  const visit = (plugin: P, path: readonly P[]) => {
    if (sorted.has(plugin)) return;
    if (path.includes(plugin)) {
      const cycle = [...path.slice(path.indexOf(plugin)), plugin].map((one) => one.name).join(' → ');
      const remedy = 'break the dependency cycle with an event or a facet';
      throw new BootFailure(plugin.name, 'order', `plugins form a dependency cycle: ${cycle}`, { remedy });
    }
    for (const other of needs.get(plugin) ?? []) visit(other, [...path, plugin]);
    sorted.add(plugin);
  };
  for (const plugin of plugins) visit(plugin, []);
  return [...sorted];
}

function findNeeds<P extends PluginPackage>(plugin: P, all: readonly P[]): readonly P[] {
  const { uses = {}, capabilities = {} } = plugin.manifest;
  const needed = new Set<P | undefined>();
  for (const [id, range] of Object.entries(uses)) {
    const provider = all.find((other) => other.manifest.provides?.[id] !== undefined);
    const version = provider?.manifest.provides?.[id];
    if (version === undefined || !satisfies(version, range)) {
      const reason = version
        ? `it uses ${id} ${range}, but ${version} is provided`
        : `it uses ${id}, which no plugin provides`;
      throw new BootFailure(plugin.name, 'order', reason, { remedy: `add a plugin that provides ${id} ${range}` });
    }
    needed.add(provider);
  }
  for (const name of Object.keys(capabilities)) needed.add(all.find((other) => capabilitiesOf(other).includes(name)));
  return all.filter((other) => other !== plugin && needed.has(other));
}

/** Names of the capabilities that a package defines. */
const capabilitiesOf = (plugin: PluginPackage): readonly string[] =>
  (plugin.manifest.contributes?.capabilities as { names?: string[] } | undefined)?.names ?? [];

/**
 * Checks that no two packages claim the same name for a plugin, service, facet or capability. The later package fails: core
 * plugins are first, so that no third-party package can replace one. @throws BootFailure
 */
export function assertNoPluginNameConflicts(all: readonly PluginPackage[]): void {
  const own = [
    ...KERNEL_FACETS.map(({ id }) => `facet ${id}`),
    ...KERNEL_CAPABILITIES.map((name) => `capability ${name}`),
  ];
  const taken = new Map(own.map((claim) => [claim, 'the kernel']));
  for (const one of all) {
    for (const claim of claimsOf(one)) {
      const owner = taken.get(claim);
      if (owner !== undefined) {
        const remedy = 'remove or rename one of the two';
        throw new BootFailure(one.name, 'validate', `the ${claim} already belongs to ${owner}`, { remedy });
      }
      taken.set(claim, one.name);
    }
  }
}

const claimsOf = (one: PluginPackage): readonly string[] => [
  `name ${one.name}`,
  ...Object.keys(one.manifest.provides ?? {}).map((id) => `service ${id}`),
  ...(one.manifest.facets ?? []).map((id) => `facet ${id}`),
  ...capabilitiesOf(one).map((name) => `capability ${name}`),
];
