import type { FacetStore } from '../facets.ts';
import { BootFailure } from '../lifecycle/failure.ts';
import { type PluginPackage, problems } from '../manifest/validate.ts';
import type { AnyCapability } from './capability.ts';

/** Everything a package asks for, by capability name; `config` and `services` have sections of their own. */
export function grantsOf({ manifest }: PluginPackage): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>([
    ['services', { provides: manifest.provides ?? {}, uses: manifest.uses ?? {} }],
    ...(manifest.config ? [['config', manifest.config] as const] : []),
    ...held(manifest.capabilities ?? {}),
  ]);
}

/** `false` asks for nothing. */
export const held = (grants: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] =>
  Object.entries(grants).filter(([, grant]) => grant !== false);

/**
 * Checks a package's grants and contribution sections against the schemas their owners brought, just before its
 * code runs: by then every owner stands, since order follows `uses`, facets and capability names.
 */
export function checkGrants(
  plugin: PluginPackage,
  known: ReadonlyMap<string, AnyCapability>,
  facets: FacetStore,
): void {
  const found: string[] = [];
  for (const [name, grant] of Object.entries(plugin.manifest.capabilities ?? {})) {
    const definition = known.get(name);
    if (definition) found.push(...problems(definition.schema, grant, `/capabilities/${name}`));
    else found.push(`/capabilities/${name} is not a known capability (known: ${[...known.keys()].sort().join(', ')})`);
  }
  for (const [id, section] of Object.entries(plugin.manifest.contributes ?? {})) {
    // A facet of its own stands only once it has registered; `admit` then sees to what it adds.
    if (plugin.manifest.facets?.includes(id)) continue;
    const target = facets.definition(id);
    if (!target) found.push(`/contributes/${id} is not a known facet`);
    else if (target.manifest) found.push(...problems(target.manifest, section, `/contributes/${id}`));
  }
  if (found.length > 0) {
    throw new BootFailure(plugin.name, 'validate', `its manifest asks for what does not exist:\n${found.join('\n')}`, {
      remedy: 'correct the named members under "service:extension"',
    });
  }
}
