import { resolve } from 'node:path';
import type { AuditLine, Log, PackagesApi } from '#kernel';
import type { Subjects } from '../broker/contract.ts';
import type { Migrator } from '../database/contract.ts';
import type { ExtensionSettings } from '../extension-settings/contract.ts';
import { extensionLines, pluginLines } from './account/manifest-lines.ts';
import type { Contributed } from './contributed.ts';
import { pseudo } from './discover/discover.ts';
import { scan } from './discover/scan.ts';
import { createExtensions, type Extensions } from './load/extensions.ts';
import { type PackageState, pluginStateOf, stateOf } from './load/package-states.ts';
import { LoadFailure } from './model.ts';
import { createAsReason, type Row } from './records/record.ts';
import type { ExtensionsConfig } from './settings.ts';
import { settingsOwners } from './settings-owners.ts';
import { pluginPlace } from './third-party/folders.ts';
import { pluginRows } from './third-party/rows.ts';
import { ThirdPartyPlugins } from './third-party/third-party.ts';

interface Deps {
  readonly config: ExtensionsConfig;
  readonly packages: PackagesApi;
  readonly log: Log;
  readonly subjects: Subjects;
  readonly settings: ExtensionSettings;
  readonly migrator: Migrator;
  readonly parts: Contributed;
}

/** Third-party packages of this process: extensions, plugins, and those that are required and not there. */
export interface AllPackages {
  readonly extensions: Extensions;
  readonly plugins: ThirdPartyPlugins;
  rows(): readonly Row[];
  states(): readonly PackageState[];
  /** Lines for the audit of what is found now, by manifests alone. */
  lines(): Promise<readonly AuditLine[]>;
}

const ABSENT = new LoadFailure(
  'DISCOVERY_FAILED',
  'It is required and no longer there. Install it, or PATCH "required": false to extensions with its id.',
);

export function createAllPackages({ config, packages, log, subjects, settings, migrator, parts }: Deps): AllPackages {
  const { consent, required } = parts;
  const asReason = createAsReason((text) => subjects.redact(text));
  const extensions = createExtensions(
    {
      ...parts,
      async discover() {
        if (config.SAFE_MODE) return [];
        const all = await scan({ config, packages, log, subjects, settings });
        consent.keep(all);
        return all;
      },
      consent: (found) => consent.check(found),
      settings: (all) => settings.load(settingsOwners(all, settings)),
      hold: (slots) => required()?.hold(slots.map((slot) => stateOf(slot, { status: 'failed' }))),
      settle: async () => required()?.settle(states()),
      log,
    },
    asReason,
  );
  const folder = config.SAFE_MODE ? undefined : resolve(config.EXTENSIONS_PATH);
  const plugins = new ThirdPartyPlugins({
    packages,
    folder,
    consent: async (plugin) => (await consent.checkPlugin(plugin, packages.describe(plugin)))?.detail,
    found: (folders) => consent.keepPlugins(folders),
    leaving: ({ name, folder: own, manifest }) =>
      required()?.hold([
        pluginStateOf({ name, folder: own, manifest, status: 'failed' }, { id: pluginPlace(own), name }),
      ]),
    prepare: migrator.run,
    log,
  });
  const ofPlugins = () => pluginRows(plugins.records(), asReason);
  const states = () => [
    ...extensions.states(),
    ...plugins.records().map((record, at) => pluginStateOf(record, (ofPlugins()[at] as Row).found)),
  ];
  const absent = () =>
    (required()?.absent() ?? []).map(
      ({ id, name }): Row => ({
        found: { ...pseudo(name, ABSENT), id },
        status: 'failed',
        reason: asReason(ABSENT, false),
      }),
    );
  async function lines(): Promise<readonly AuditLine[]> {
    const shown = (failure: { code: string; detail: string }) => {
      const { code, detail } = asReason(failure, false);
      return `${code}: ${detail}`;
    };
    const deps = { packages, settings, shown };
    const found = config.SAFE_MODE ? [] : await scan({ config, packages, log: { warn() {} }, subjects, settings });
    return [...extensionLines(found, deps), ...(await pluginLines(folder, deps))].sort((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  }
  const withRequired = (row: Row): Row => (required()?.isRequired(row.found.name) ? { ...row, required: true } : row);
  return {
    extensions,
    plugins,
    states,
    lines,
    rows: () => [...extensions.rows(), ...ofPlugins(), ...absent()].map(withRequired),
  };
}
