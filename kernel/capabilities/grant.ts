import { type FacetStore, findFacetProblems, omitOptionalFlag } from '../facets.ts';
import { assertNoManifestProblems } from '../lifecycle/boot-failure.ts';
import type { PluginInfo } from '../lifecycle/discover.ts';
import { findJsonSchemaProblems } from '../manifest/schema-problems.ts';
import { type AnyCapability, type Authority, authorities, type PluginRuntime } from './capability.ts';

type Capabilities = ReadonlyMap<string, AnyCapability>;
type Grants = Iterable<readonly [string, unknown]>;

/** All grants that a manifest requests, by capability name; `config` and `services` have their own sections there. */
export const requestedGrants = ({ manifest }: Pick<PluginInfo, 'manifest'>): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([
    ['services', { provides: manifest.provides ?? {}, uses: manifest.uses ?? {} }],
    ...(manifest.config ? [['config', manifest.config] as const] : []),
    ...activeGrants(manifest.capabilities ?? {}),
  ]);

/** Grants without those set to `false`, which request nothing. */
export const activeGrants = (grants: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] =>
  Object.entries(grants).filter(([, grant]) => grant !== false);

/**
 * Checks the grants of a package against the schemas of their capabilities, right before its code runs. The plugins that define
 * these capabilities have registered by then: `sortPlugins` puts them first. @throws BootFailure
 */
export function assertValidManifestGrants({ name, manifest, core }: PluginInfo, known: Capabilities): void {
  const wrong = Object.entries(manifest.capabilities ?? {}).flatMap(([capability, grant]) => {
    const definition = known.get(capability);
    const at = `/capabilities/${capability}`;
    if (!definition) return [`${at} is not a known capability (known: ${[...known.keys()].sort().join(', ')})`];
    if (definition.coreOnly && !core) return [`${at} is open to core plugins only`];
    return findJsonSchemaProblems(definition.schema, grant, at);
  });
  assertNoManifestProblems(name, wrong);
}

/** Checks that each section under `contributes` names a facet, or has `optional: true`. @throws BootFailure */
export function assertValidManifestContributions({ name, manifest }: PluginInfo, facets: FacetStore): void {
  const wrong = Object.entries(manifest.contributes ?? {}).flatMap(([id, section]) => {
    const target = facets.definition(id);
    if (target) return findFacetProblems(target, section);
    return section.optional === true ? [] : [`/contributes/${id} is not a known facet`];
  });
  assertNoManifestProblems(name, wrong);
}

/** Everything one plugin or package may do. */
export interface AuditLine {
  readonly name: string;
  readonly version: string;
  readonly runtime: PluginRuntime;
  readonly authorities: readonly Authority[];
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

const describeUnknown = (name: string) => authorities('may do', [`what the unknown capability ${name} allows`]);

/** Lists the authorities that the grants of one package give it, sorted by capability name. */
export const describeGrants = (grants: Grants, known: Capabilities): readonly Authority[] =>
  [...grants].sort(byName).flatMap(([name, grant]) => known.get(name)?.describe(grant) ?? describeUnknown(name));

/** Everything one plugin adds and may do, in a fixed order, so that releases diff cleanly. */
export const listPluginAuthorities = (
  plugin: PluginInfo,
  capabilities: Capabilities,
  facets: FacetStore,
): readonly Authority[] => [
  ...Object.entries(plugin.manifest.contributes ?? {})
    .sort(byName)
    .flatMap(
      ([id, own]) => facets.definition(id)?.describe?.(omitOptionalFlag(own)) ?? authorities('contributes to', [id]),
    ),
  ...authorities('opens', plugin.manifest.facets),
  ...describeGrants(requestedGrants(plugin), capabilities),
];
