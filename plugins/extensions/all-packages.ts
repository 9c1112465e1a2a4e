import { resolve } from 'node:path';
import type { AuditLine, Log, PackagesApi } from '#kernel';
import type { PackageGrantBroker } from '../broker/contract.ts';
import type { Migrator } from '../database/contract.ts';
import type { ExtensionSettings } from '../extension-settings/contract.ts';
import { createExtensionAuditLines, createPluginAuditLines } from './audit/manifest-lines.ts';
import type { SourcePackage } from './contract.ts';
import { createFailurePlaceholder } from './discover/discover.ts';
import { scanPackages } from './discover/scan-configured-folders.ts';
import { type DiscoveredExtension, LoadFailure } from './extension-types.ts';
import { createExtensionManager, type ExtensionManager } from './load/extension-manager.ts';
import {
  type PackageEventFilterState,
  toExtensionFilterState,
  toPluginFilterState,
} from './load/package-filter-states.ts';
import type { LoaderContributions } from './loader-contributions.ts';
import { createFailureReasonRedactor, type ExtensionRow } from './records/info-record.ts';
import type { ExtensionsConfig } from './settings.ts';
import { listSettingsOwners } from './settings-owners.ts';
import { hashPluginFolderToId } from './third-party/folders.ts';
import { toThirdPartyPluginRows } from './third-party/plugin-info-records.ts';
import { ThirdPartyPlugins } from './third-party/plugins.ts';

interface Deps {
  readonly config: ExtensionsConfig;
  readonly packages: PackagesApi;
  readonly log: Log;
  readonly subjects: PackageGrantBroker;
  readonly settings: ExtensionSettings;
  readonly migrator: Migrator;
  readonly contributions: LoaderContributions;
}

/** Third-party packages of this process: extensions, third-party plugins, and required packages that are missing. */
export interface ThirdPartyPackages {
  readonly extensions: ExtensionManager;
  readonly plugins: ThirdPartyPlugins;
  /** Brings the packages of the source. False where there is none. */
  bring(): Promise<boolean>;
  rows(): readonly ExtensionRow[];
  states(): readonly PackageEventFilterState[];
  /** Audit lines of the packages that are on disk now, read from their manifests. */
  auditLines(): Promise<readonly AuditLine[]>;
  /** Whether a package on disk, or one that a source may bring, would run with full authority; false in SAFE_MODE. */
  hasFullAuthority(): Promise<boolean>;
}

const ABSENT = new LoadFailure(
  'DISCOVERY_FAILED',
  'It is required and no longer there. Install it, or PATCH "required": false to extensions with its id.',
);

type Failed = Readonly<Record<'code' | 'detail', string>>;
const renderReason = ({ code, detail }: Failed): string => `${code}: ${detail}`;

/** An extension that is switched off is not loaded; its other revision makes a reload unload it. */
const toDisabledExtension = (extension: DiscoveredExtension): DiscoveredExtension => ({
  ...extension,
  revision: `${extension.revision} disabled`,
  failure: new LoadFailure('DISABLED', 'An administrator has switched it off.'),
});

export function createThirdPartyPackages({
  config,
  packages,
  log,
  subjects,
  settings,
  migrator,
  contributions,
}: Deps): ThirdPartyPackages {
  const { consent, requirements } = contributions;
  const toReason = createFailureReasonRedactor((text) => subjects.redact(text));
  let brought: readonly SourcePackage[] = [];
  const extensions = createExtensionManager(
    {
      ...contributions,
      async discover() {
        if (config.SAFE_MODE) return [];
        const all = await scanPackages({ config, packages, log, subjects, settings, brought });
        consent.retainOnly(all);
        const names = (await contributions.disabled()?.list()) ?? new Set();
        return all.map((one) => (names.has(one.name) ? toDisabledExtension(one) : one));
      },
      consent: (extension) => consent.check(extension),
      settings: (all) => settings.setOwners(listSettingsOwners(all, settings)),
      beforeLoad: (slots) =>
        requirements()?.beforeLoad(slots.map((slot) => toExtensionFilterState(slot, { status: 'failed' }))),
      afterLoad: async () => requirements()?.afterLoad(states()),
      log,
    },
    toReason,
  );
  const folder = config.SAFE_MODE ? undefined : resolve(config.EXTENSIONS_PATH);
  const plugins = new ThirdPartyPlugins({
    packages,
    folder,
    others: () => brought.flatMap((one) => one.folder ?? []),
    consent: async (plugin) => (await consent.checkPlugin(plugin, packages.describe(plugin)))?.detail,
    onDiscovered: (folders) => consent.retainOnlyPlugins(folders),
    beforeUnload: ({ name, folder: own, manifest }) =>
      requirements()?.beforeLoad([
        toPluginFilterState({ name, folder: own, manifest, status: 'failed' }, { id: hashPluginFolderToId(own), name }),
      ]),
    migrate: migrator.run,
    log,
  });
  const rowsOfPlugins = () => toThirdPartyPluginRows(plugins.records(), toReason);
  const states = () => [
    ...extensions.states(),
    ...plugins
      .records()
      .map((record, at) => toPluginFilterState(record, (rowsOfPlugins()[at] as ExtensionRow).extension)),
  ];
  const absent = () =>
    (requirements()?.listMissing() ?? []).map(
      ({ id, name }): ExtensionRow => ({
        extension: { ...createFailurePlaceholder(name, ABSENT), id },
        status: 'failed',
        reason: toReason(ABSENT, false),
      }),
    );
  async function auditLines(): Promise<readonly AuditLine[]> {
    const deps = { packages, settings, describeFailure: (one: Failed) => renderReason(toReason(one, false)) };
    const discovered = config.SAFE_MODE
      ? []
      : await scanPackages({ config, packages, log: { warn() {} }, subjects, settings, brought });
    return [...createExtensionAuditLines(discovered, deps), ...(await createPluginAuditLines(folder, deps))].sort(
      (a, b) => (a.name < b.name ? -1 : 1),
    );
  }
  const withRequired = (row: ExtensionRow): ExtensionRow =>
    requirements()?.isRequired(row.extension.name) ? { ...row, required: true } : row;
  return {
    extensions,
    plugins,
    states,
    auditLines,
    // What a source brings is known after that only.
    hasFullAuthority: async () =>
      !config.SAFE_MODE &&
      (contributions.source() !== undefined || (await auditLines()).some(({ runtime }) => runtime === 'full')),
    async bring() {
      const source = config.SAFE_MODE ? undefined : contributions.source();
      if (source) brought = await source.bring();
      return source !== undefined;
    },
    rows: () => [...extensions.rows(), ...rowsOfPlugins(), ...absent()].map(withRequired),
  };
}
