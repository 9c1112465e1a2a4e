import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { BootFailure } from '../lifecycle/boot-failure.ts';
import { CastError } from './cast.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
/** Returns the environment variables of this process. No other code of the kernel reads them. */
export const processEnvironment = (): Environment => process.env;

/** The text of one setting; undefined where it is unset or empty. @throws CastError where `<KEY>_FILE` names no readable file. */
export function readRawSetting(source: Environment, name: string): string | undefined {
  const path = source[`${name}_FILE`];
  if (path === undefined || path === '') return source[name] === '' ? undefined : source[name];
  try {
    // The trailing newline an editor leaves is never part of a secret.
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CastError(`cannot be read from the file that ${name}_FILE names (${code})`);
  }
}

const createConfigFailure = (reason: string, remedy: string) => new BootFailure('kernel', 'config', reason, { remedy });

/** Settings of the file named by CONFIG_PATH, which win over the environment. @throws BootFailure */
export function readSettingsFile(environment: Environment): Environment {
  const path = environment.CONFIG_PATH ?? '.env';
  if (!existsSync(path)) {
    if (environment.CONFIG_PATH === undefined) return {};
    throw createConfigFailure('there is no file at CONFIG_PATH', 'correct or unset CONFIG_PATH');
  }
  const text = readFileSync(path, 'utf8');
  if (!path.endsWith('.json')) return parseEnv(text) as Environment;
  try {
    const parsed = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return Object.fromEntries(parsed.map(([key, one]) => [key, typeof one === 'string' ? one : JSON.stringify(one)]));
  } catch {
    throw createConfigFailure('the file at CONFIG_PATH is not a JSON object', 'correct the file');
  }
}
