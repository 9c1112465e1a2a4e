import type { SharedSetting } from './contract.ts';
import type { DescribedSettings } from './described-settings.ts';
import type { LiveProcess } from './process-registry.ts';

/** A setting whose value differs between this process and others that are alive. */
export interface SettingDifference {
  readonly setting: SharedSetting;
  /** Names of the other processes. */
  readonly processes: readonly string[];
  /** `stop`: this process must not start. `rotation`: this process accepts the value of the others, so the setting is being changed. */
  readonly kind: 'stop' | 'warning' | 'rotation';
  /** The two values; left out for secrets. */
  readonly values?: { readonly here: string | null; readonly there: string | null };
}

/** Compares the settings of this process with those of others, setting by setting and value by value. */
export function findSettingDifferences(
  settings: readonly SharedSetting[],
  own: DescribedSettings,
  others: readonly LiveProcess[],
): readonly SettingDifference[] {
  return settings.flatMap((setting) => {
    const here = own[setting.name] ?? [];
    const differing = Map.groupBy(others, ({ settings: theirs }) => JSON.stringify(theirs[setting.name]?.[0] ?? null));
    return [...differing].flatMap(([text, processes]): readonly SettingDifference[] => {
      const there = JSON.parse(text) as string | null;
      // A process of another version may not compare this setting.
      const isCompared = processes.some(({ settings: theirs }) => setting.name in theirs);
      if (!isCompared || there === (here[0] ?? null)) return [];
      const values = setting.secret ? {} : { values: { here: here[0] ?? null, there } };
      return [{ setting, processes: processes.map(({ name }) => name), kind: kindOf(setting, here, there), ...values }];
    });
  });
}

function kindOf(
  { stopsStart }: SharedSetting,
  here: readonly string[],
  there: string | null,
): SettingDifference['kind'] {
  if (there !== null && here.includes(there)) return 'rotation';
  return stopsStart && there !== null && here.length > 0 ? 'stop' : 'warning';
}

/** The difference as a sentence with what it causes. */
export function renderSettingDifference({ setting, processes, kind, values }: SettingDifference): string {
  const { name, consequence } = setting;
  const shown = values ? ` (here ${values.here ?? 'unset'}, there ${values.there ?? 'unset'})` : '';
  const where = `${name} differs from that of ${processes.join(', ')} on the same database${shown}`;
  return kind === 'rotation'
    ? `${where}, whose value this process accepts: until they are restarted as well, ${consequence}`
    : `${where}: ${consequence}. Set it to one value for all processes`;
}
