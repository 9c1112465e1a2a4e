/** `scripts/node scripts/settings-table.ts` writes the table of settings in README.md anew, from the manifests. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConfigKey, KERNEL_CONFIG } from '#kernel/boot';
import { composition } from '../plugins/preset.ts';

const README = new URL('../README.md', import.meta.url);
const BETWEEN = /(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/;

/** README.md as it should be. */
export const readmeWithSettings = (readme = readFileSync(README, 'utf8')): string =>
  readme.replace(BETWEEN, (_all, begin: string, end: string) => `${begin}${table()}${end}`);

function table(): string {
  const rows = declared().flatMap(([owner, config]) =>
    Object.entries(config).map(([name, key]) => row(owner, name, key)),
  );
  return ['| Setting | Default | What it is | Of |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function declared(): readonly (readonly [owner: string, Readonly<Record<string, ConfigKey>>])[] {
  const plugins = composition().plugins.map((url) => {
    const text = readFileSync(new URL('package.json', url), 'utf8');
    const { config = {} } = JSON.parse(text)['service:extension'] as { config?: Record<string, unknown> };
    const { shared: _shared, ...own } = config;
    return [basename(fileURLToPath(url)), own as Record<string, ConfigKey>] as const;
  });
  return [['kernel', KERNEL_CONFIG], ...plugins];
}

const row = (owner: string, name: string, key: ConfigKey): string =>
  `| \`${name}\` | ${shown(key)} | ${[key.about ?? '', allowed(key)].filter(Boolean).join('; ').replaceAll('|', '\\|')} | ${owner} |`;

function shown({ type, default: value }: ConfigKey): string {
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

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(README, readmeWithSettings());
