import { parseArgs } from 'node:util';
import type { Kernel } from '#kernel/boot';

/** Stands for a value that is not printed. */
const MASK = '**********';
const USAGE = 'Usage: config:print [--redacted | --with-secrets] [--json]';

interface PrintedSetting {
  readonly name: string;
  /** The plugin that reads it. */
  readonly owner: string;
  /** Undefined where it is not set and has no default. */
  readonly value: unknown;
  readonly isSecret: boolean;
  readonly from: 'default' | 'environment' | 'settings file';
}

type Settings = Kernel['settings'];

/** `config:print`: the settings as the service reads them, and where each value is from. Secrets are masked unless asked for. Answers the exit code. */
export function printConfig(settings: Settings, args: readonly string[]): number {
  const options = parseOptions(args);
  if (!options) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const all = listSettings(settings).map((one) => (options.withSecrets ? one : redactSetting(one)));
  process.stdout.write(options.json ? `${JSON.stringify(all)}\n` : `${all.map(renderSetting).join('\n')}\n`);
  return 0;
}

function parseOptions(args: readonly string[]): { withSecrets: boolean; json: boolean } | undefined {
  const boolean = { type: 'boolean' } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { redacted: boolean, 'with-secrets': boolean, json: boolean },
      strict: true,
    });
    if (values.redacted && values['with-secrets']) return undefined;
    return { withSecrets: values['with-secrets'] ?? false, json: values.json ?? false };
  } catch {
    return undefined;
  }
}

/** Patterns such as `STORAGE_*` are printed as the settings that match them. */
function listSettings(settings: Settings): readonly PrintedSetting[] {
  return settings
    .declared()
    .flatMap(({ name, owner, key, value }): readonly PrintedSetting[] => {
      const isSecret = key.secret === true;
      if (!name.endsWith('*')) return [{ name, owner, value, isSecret, from: originOf(settings, name) }];
      return Object.entries((value ?? {}) as Readonly<Record<string, unknown>>).map(([match, found]) => ({
        name: match,
        owner,
        value: found,
        isSecret,
        from: originOf(settings, match),
      }));
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function originOf({ source }: Settings, name: string): PrintedSetting['from'] {
  const set = [name, `${name}_FILE`].find((one) => source[one] !== undefined);
  if (set === undefined) return 'default';
  return process.env[set] === source[set] ? 'environment' : 'settings file';
}

/** Masks secrets, and passwords in addresses of other settings. */
function redactSetting(setting: PrintedSetting): PrintedSetting {
  const { value, isSecret } = setting;
  if (value === undefined) return setting;
  if (isSecret) return { ...setting, value: MASK };
  if (typeof value !== 'string') return setting;
  return { ...setting, value: value.replace(/(\/\/[^/:@\s]*:)[^@/\s]+@/g, `$1${MASK}@`) };
}

function renderSetting({ name, owner, value, from }: PrintedSetting): string {
  if (value === undefined) return `# ${name}= (${owner})`;
  const text = typeof value === 'string' ? value : Array.isArray(value) ? value.join(',') : JSON.stringify(value);
  return `${name}=${/[\s#"'\\]/.test(text) ? JSON.stringify(text) : text} # ${from}, ${owner}`;
}
