import { satisfies } from 'semver';
import type { PluginPackage } from '../manifest/validate.ts';
import type { Discovered } from './discover.ts';
import { BootFailure } from './failure.ts';

/**
 * Plugins in the order in which they may register: providers before users, facet owners before contributors, those who
 * define a capability before those who hold it. Ties keep the order given. A cycle is printed as a path.
 */
export function order<P extends PluginPackage>(plugins: readonly P[]): readonly P[] {
  const needs = new Map(plugins.map((plugin) => [plugin, needsOf(plugin, plugins)]));
  const done = new Set<P>();
  const sorted: P[] = [];
  const visit = (plugin: P, path: readonly P[]) => {
    if (done.has(plugin)) return;
    if (path.includes(plugin)) {
      const cycle = [...path.slice(path.indexOf(plugin)), plugin].map((one) => one.name).join(' → ');
      throw new BootFailure(plugin.name, 'order', `plugins need each other in a circle: ${cycle}`, {
        remedy: 'break the circle with an event or a facet',
      });
    }
    for (const other of needs.get(plugin) ?? []) visit(other, [...path, plugin]);
    done.add(plugin);
    sorted.push(plugin);
  };
  for (const plugin of plugins) visit(plugin, []);
  return sorted;
}

/** The same, leaving out the packages of others that stand in the way. */
export function orderWithout(plugins: readonly Discovered[], refused: BootFailure[]): readonly Discovered[] {
  try {
    return order(plugins);
  } catch (error) {
    const failure = error as BootFailure;
    const culprit = plugins.find((one) => one.name === failure.plugin && !one.core);
    if (!culprit) throw failure;
    refused.push(failure);
    return orderWithout(
      plugins.filter((one) => one !== culprit),
      refused,
    );
  }
}

function needsOf<P extends PluginPackage>(plugin: P, all: readonly P[]): readonly P[] {
  const { uses = {}, contributes = {}, capabilities = {} } = plugin.manifest;
  const needed = new Set<P>();
  for (const [id, range] of Object.entries(uses)) {
    const provider = all.find((other) => other.manifest.provides?.[id] !== undefined);
    const version = provider?.manifest.provides?.[id];
    if (!provider || version === undefined || !satisfies(version, range)) {
      const reason = version
        ? `it uses ${id} ${range}, but ${version} is provided`
        : `nobody provides ${id}, which it uses`;
      throw new BootFailure(plugin.name, 'order', reason, { remedy: `add a plugin that provides ${id} ${range}` });
    }
    needed.add(provider);
  }
  for (const id of Object.keys(contributes)) {
    const owner = all.find((other) => other.manifest.facets?.includes(id));
    if (owner) needed.add(owner);
  }
  for (const name of Object.keys(capabilities)) {
    const owner = all.find((other) => definedBy(other).includes(name));
    if (owner) needed.add(owner);
  }
  needed.delete(plugin);
  return all.filter((other) => needed.has(other));
}

/** Names of the capabilities that a package brings. */
export const definedBy = (plugin: PluginPackage): readonly string[] =>
  (plugin.manifest.contributes?.capabilities as { names?: string[] } | undefined)?.names ?? [];
