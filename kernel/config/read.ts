import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { BootFailure } from '../lifecycle/failure.ts';
import { CastError, type ConfigKey, cast } from './cast.ts';
import { resembling } from './resembling.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Declarations = ReadonlyMap<string, { readonly owner: string; readonly key: ConfigKey }>;

export interface Config {
  /** By declared name; under a pattern such as `SERVICE_EXT_*` everything that fits it, by its own name. */
  readonly values: ReadonlyMap<string, unknown>;
  /** What the file named by CONFIG_PATH says. */
  readonly file: Environment;
  /** Names set in the environment that look like declared ones, each with what was probably meant. */
  readonly suspects: readonly { name: string; meant: string }[];
}

/** The environment of this process: the one place that reads it. */
export const processEnvironment = (): Environment => process.env;

/**
 * Reads every declared key once: default < environment < file named by CONFIG_PATH, with `<KEY>_FILE` naming a file that
 * holds the value. All wrong values are reported together.
 */
export function readConfig(environment: Environment, declared: Declarations): Config {
  const file = fileOf(environment);
  const source = { ...environment, ...file };
  const values = new Map<string, unknown>();
  const wrong: string[] = [];
  for (const [name, { key }] of declared) {
    try {
      values.set(name, name.endsWith('*') ? fitting(source, name, key) : settingOf(source, name, key));
    } catch (error) {
      if (!(error instanceof CastError)) throw error;
      wrong.push(`${name} ${error.message}`);
    }
  }
  if (wrong.length > 0) {
    throw new BootFailure('kernel', 'config', wrong.join('\n'), { remedy: 'correct the named settings' });
  }
  return { values, file, suspects: resembling(Object.keys(source), [...declared.keys()]) };
}

function settingOf(source: Environment, name: string, key: ConfigKey): unknown {
  const raw = rawValue(source, name);
  return raw === undefined ? key.default : cast(raw, key);
}

/** Names here are anybody's, so none of them means a file, and texts are taken as they are. */
function fitting(source: Environment, pattern: string, key: ConfigKey): Readonly<Record<string, unknown>> {
  const prefix = pattern.slice(0, -1);
  return Object.freeze(
    Object.fromEntries(
      Object.entries(source).flatMap(([name, text]) =>
        name.startsWith(prefix) && text ? [[name, key.type === 'string' ? text : cast(text, key)]] : [],
      ),
    ),
  );
}

function rawValue(source: Environment, name: string): string | undefined {
  const path = source[`${name}_FILE`];
  if (path === undefined || path === '') return source[name] === '' ? undefined : source[name];
  try {
    // The trailing newline an editor leaves is never part of a secret.
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new CastError(
      `cannot be read from the file that ${name}_FILE names (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}

/** What the file named by CONFIG_PATH says; it wins over the environment. */
export function fileOf(environment: Environment): Environment {
  const path = environment.CONFIG_PATH ?? '.env';
  if (!existsSync(path)) {
    if (environment.CONFIG_PATH === undefined) return {};
    throw new BootFailure('kernel', 'config', `there is no file at CONFIG_PATH`, {
      remedy: 'correct or unset CONFIG_PATH',
    });
  }
  const text = readFileSync(path, 'utf8');
  if (!path.endsWith('.json')) return parseEnv(text) as Environment;
  let parsed: [string, unknown][];
  try {
    parsed = Object.entries(JSON.parse(text) as Record<string, unknown>);
  } catch {
    throw new BootFailure('kernel', 'config', 'the file at CONFIG_PATH is not a JSON object', {
      remedy: 'correct the file',
    });
  }
  return Object.fromEntries(
    parsed.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}
