import { type AuditLine, type Authority, BootFailure, describeGrants, type PackagesApi } from '#kernel';
import type { ExtensionSettings } from '../../extension-settings/contract.ts';
import type { DiscoveredExtension } from '../extension-types.ts';
import { hasExtensionServerPart, isConfinedExtension } from '../load/extension-load-state.ts';
import { findRequestedGrantsByEntry, listServerBundleEntries } from '../manifest/requested-grants.ts';
import { findThirdPartyPluginFolders } from '../third-party/folders.ts';

interface Deps {
  readonly packages: Pick<PackagesApi, 'capabilities' | 'inspect' | 'describe'>;
  readonly settings: Pick<ExtensionSettings, 'parseDeclaration'>;
  /** Renders a failure without paths and secrets. */
  readonly describeFailure: (failure: { readonly code: string; readonly detail: string }) => string;
}

const BROWSER: Authority = {
  verb: 'runs',
  object: 'in the admin app',
  detail: 'with the rights of the signed-in user',
};
const IN_PROCESS: Authority = { verb: 'may do', object: 'everything this process can do' };

/** What extensions may do according to their manifests. None of their code runs for this. */
export const createExtensionAuditLines = (all: readonly DiscoveredExtension[], deps: Deps): readonly AuditLine[] =>
  all.map((found) => {
    const { name, version = 'local', failure, manifest } = found;
    if (failure) return createBrokenLine(name, version, isConfinedExtension(found), deps.describeFailure(failure));
    const isConfinedPackage = isConfinedExtension(found) && manifest !== undefined;
    const own = isConfinedPackage
      ? listConfinedAuthorities(found, deps)
      : hasExtensionServerPart(found)
        ? [IN_PROCESS]
        : [];
    const authorities = found.files.app === undefined ? own : [...own, BROWSER];
    return { name, version, runtime: isConfinedPackage ? 'confined' : 'full', authorities };
  });

/**
 * What third-party plugins that would run in this process may do according to their manifests. None of their code runs for this.
 */
export async function createPluginAuditLines(folder: string | undefined, deps: Deps): Promise<readonly AuditLine[]> {
  const lines: AuditLine[] = [];
  for (const path of await findThirdPartyPluginFolders(folder)) {
    try {
      const plugin = await deps.packages.inspect(path);
      const { name, version } = plugin;
      lines.push({ name, version, runtime: 'full', authorities: [IN_PROCESS, ...deps.packages.describe(plugin)] });
    } catch (error) {
      const { plugin, message } = BootFailure.from(path, 'discover', error);
      const name = plugin === path ? (path.split(/[\\/]/).at(-1) ?? path) : plugin;
      lines.push(
        createBrokenLine(name, '', false, deps.describeFailure({ code: 'MANIFEST_INVALID', detail: message })),
      );
    }
  }
  return lines;
}

function listConfinedAuthorities(
  { name, manifest }: DiscoveredExtension,
  { packages, settings }: Deps,
): readonly Authority[] {
  if (!manifest) return [];
  const known = packages.capabilities();
  const parts = manifest.type === 'bundle' ? listServerBundleEntries(manifest) : [{ type: manifest.type, name }];
  return [
    ...parts.map((part): Authority => ({ verb: 'provides', object: `the ${part.type} ${part.name}` })),
    ...[...findRequestedGrantsByEntry(manifest, settings).values()].flatMap((grants) =>
      describeGrants(Object.entries(grants), known),
    ),
  ];
}

const createBrokenLine = (name: string, version: string, isConfinedPackage: boolean, why: string): AuditLine => ({
  name,
  version,
  runtime: isConfinedPackage ? 'confined' : 'full',
  authorities: [{ verb: 'may do', object: 'nothing', detail: `it does not load, ${why}` }],
});
