import { type ConfigKey, KERNEL_CONFIG } from '#kernel/boot';
import { ABSENT_SETTINGS, findDeclaredAbsentSettings } from '../absent-settings.ts';
import { type CorePluginManifestExcerpt, readCorePluginManifests } from './core-plugins.ts';
import { markdownPage, markdownTable } from './markdown.ts';

/**
 * docs/reference/settings.md: every setting that a core plugin declares, and those that are absent, with the reason.
 * @throws Error for a name that is both.
 */
export function renderSettingsReferencePage(): string {
  const both = findDeclaredAbsentSettings(owners().flatMap(({ config }) => Object.keys(config)));
  if (both.length > 0)
    throw new Error(`settings that plugins declare, and scripts/absent-settings.ts calls absent: ${both.join(', ')}`);
  return markdownPage(
    'Settings',
    `Settings come from the environment, or from the file at \`CONFIG_PATH\` (\`.env\` where there is one), which wins.
\`<NAME>_FILE\` names a file that holds the value. Durations are milliseconds or \`15m\`, \`7d\`; sizes are bytes or \`1mb\`; lists
are separated by commas. A wrong value stops the start, and every wrong value is named.`,
    ...owners().map(
      ({ plugin, config }) =>
        `## ${plugin}\n\n${markdownTable(
          ['Setting', 'Type', 'Default', 'Meaning'],
          Object.entries(config).map(([name, key]) => row(name, key)),
        )}`,
    ),
    `## Absent

Settings that services of this kind usually have, and this one has not. One that is set is named in the log of the start, and has no effect.
\`CONFIG_PATH\` names a file of lines \`NAME=value\` or of JSON, no program and no YAML.
Values have the type that their setting declares: prefixes such as \`number:\` and \`regex:\` are part of the value. The drivers of \`storage\` are those that
plugins bring (\`local\` and \`s3\`), and so are their keys; the keys of sign-in providers are in the READMEs of their plugins.

${markdownTable(
  ['Setting', 'Why, or what is in its place'],
  ABSENT_SETTINGS.map(({ name, reason }) => [`\`${name}\``, reason]),
)}`,
  );
}

const owners = (): readonly Pick<CorePluginManifestExcerpt, 'plugin' | 'config'>[] =>
  [{ plugin: 'kernel', config: KERNEL_CONFIG }, ...readCorePluginManifests()].filter(
    ({ config }) => Object.keys(config).length > 0,
  );

const row = (name: string, key: ConfigKey): readonly string[] => [
  `\`${name}\``,
  key.secret ? `${key.type}, secret` : key.type,
  renderDefault(key),
  [key.about ?? '', allowed(key)].filter(Boolean).join('; '),
];

function renderDefault({ type, default: value }: ConfigKey): string {
  if (value === undefined || value === null || value === '') return '';
  if (Array.isArray(value)) return value.length > 0 ? `\`${value.join(',')}\`` : '';
  if (typeof value === 'number' && type === 'duration') return `\`${inUnits(value, DURATIONS, 'ms')}\``;
  if (typeof value === 'number' && type === 'size') return `\`${inUnits(value, SIZES, '')}\``;
  return `\`${typeof value === 'object' ? JSON.stringify(value) : String(value)}\``;
}

const allowed = ({ enum: values }: ConfigKey): string => (values ? `one of ${values.join(', ')}` : '');

const DURATIONS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;
const SIZES = [
  ['gb', 1024 ** 3],
  ['mb', 1024 ** 2],
  ['kb', 1024],
] as const;

function inUnits(value: number, units: readonly (readonly [string, number])[], bare: string): string {
  const [name, size] = units.find(([, one]) => value > 0 && value % one === 0) ?? [bare, 1];
  return `${value / size}${name}`;
}
