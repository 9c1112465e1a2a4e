import { definePlugin, VERSION } from '#kernel';
import { presence } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { type SharedSetting, sharedSettings } from './contract.ts';
import { describeSettings } from './described-settings.ts';
import { createProcessesMigration } from './migration.ts';
import manifest from './package.json' with { type: 'json' };
import { createProcessRegistry, type LiveProcess } from './process-registry.ts';
import { findSettingDifferences, renderSettingDifference, type SettingDifference } from './setting-differences.ts';

interface Shared {
  readonly PUBLIC_URL: string;
}

export default definePlugin<object, Shared>({
  manifest,
  register(host) {
    const { config, db, log } = host;
    host.define(sharedSettings);
    host.contribute(migrations, createProcessesMigration(db));
    const registry = createProcessRegistry({ db, presence: host.use({ presence }).presence });

    // Plugins of lower floors have started: their settings are known.
    host.onStart(async () => {
      const all = [...ownSettings(config, db.schemas), ...host.read(sharedSettings)];
      const described = describeSettings(all);
      const others = await registry.register(described);
      const differences = findSettingDifferences(all, described, others);
      for (const one of differences.filter(({ kind }) => kind !== 'stop')) tell(one);
      tellVersions(others);
      assertNothingStops(differences);
    });
    host.onStop(registry.unregister);

    function tell(difference: SettingDifference): void {
      const about = { setting: difference.setting.name, processes: difference.processes };
      log[difference.kind === 'rotation' ? 'info' : 'warn'](about, renderSettingDifference(difference));
    }

    function tellVersions(others: readonly LiveProcess[]): void {
      const other = others
        .filter(({ version }) => version !== VERSION)
        .map(({ name, version }) => `${name} (${version})`);
      if (other.length > 0)
        log.info({ version: VERSION, processes: other }, 'processes of another version run on the same database');
    }
  },
});

/** Settings of the kernel and the database, which have no facet to contribute to. */
const ownSettings = ({ PUBLIC_URL }: Shared, schemas: readonly string[]): readonly SharedSetting[] => [
  {
    name: 'PUBLIC_URL',
    values: () => [PUBLIC_URL],
    consequence: 'links in mails, cookies and passkeys work for one of the addresses only',
  },
  {
    name: 'DB_SCHEMAS',
    values: () => [schemas.join(',')],
    consequence: 'the processes serve different tables',
  },
];

/** @throws Error with a remedy, which stops the start. */
function assertNothingStops(differences: readonly SettingDifference[]): void {
  const [stopping] = differences.filter(({ kind }) => kind === 'stop');
  if (!stopping) return;
  throw Object.assign(new Error(renderSettingDifference(stopping)), {
    remedy: `set ${stopping.setting.name} as in the other processes; to change it, stop all of them first`,
  });
}
