import { readFileSync } from 'node:fs';
import { BootFailure, CastError, castSetting } from '#kernel';
import type { StorageLocationSettings } from './contract.ts';

export interface StorageConfig {
  STORAGE_LOCATIONS: readonly string[];
  /** All environment variables of this pattern, by name. */
  'STORAGE_*': Readonly<Record<string, string>>;
}

/** Settings of a location before its driver is opened. */
export interface StorageLocationConfig extends StorageLocationSettings {
  readonly driver: string;
  /** Milliseconds above which the health check counts the location as slow. */
  readonly threshold: number;
}

const THRESHOLD = 750;

/** The variable that holds a location's setting: `my-files` and `ROOT` make STORAGE_MY_FILES_ROOT. */
export const storageVariableOf = (location: string, key: string): string =>
  `STORAGE_${location.toUpperCase().replaceAll('-', '_')}_${key}`;

/** Parses the storage locations, in their order. @throws BootFailure if a setting is invalid. */
export function parseStorageLocations({
  STORAGE_LOCATIONS: names,
  'STORAGE_*': set,
}: StorageConfig): readonly StorageLocationConfig[] {
  assertLocationNames(names);
  return names.map((location) => {
    const setting = (key: string) => readSetting(set, storageVariableOf(location, key));
    return {
      location,
      setting,
      driver: setting('DRIVER') ?? 'local',
      threshold: parseDuration(storageVariableOf(location, 'HEALTHCHECK_THRESHOLD'), setting('HEALTHCHECK_THRESHOLD')),
    };
  });
}

/** @throws BootFailure if a name is none of the configured locations. */
export function assertKnownLocations(names: readonly string[], configs: readonly StorageLocationConfig[]): void {
  const unknown = names.find((name) => !configs.some(({ location }) => location === name));
  if (unknown === undefined) return;
  throw createBootFailure(
    `there is no storage location ${unknown}`,
    `add it to STORAGE_LOCATIONS, with its settings ${storageVariableOf(unknown, '*')}`,
  );
}

function assertLocationNames(names: readonly string[]): void {
  if (names.length === 0)
    throw createBootFailure('STORAGE_LOCATIONS names no location', 'name one, or unset it for "local"');
  const seen = new Map<string, string>();
  for (const name of names) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
      throw createBootFailure(
        `STORAGE_LOCATIONS has ${JSON.stringify(name)}, which is no name for a location`,
        'use letters, digits, "_" and "-" only, 64 characters at most',
      );
    }
    // Names of locations that differ only in case or in `-` and `_` would share their settings.
    const variable = storageVariableOf(name, '*');
    const other = seen.get(variable);
    if (other !== undefined) {
      throw createBootFailure(
        other === name
          ? `STORAGE_LOCATIONS names ${name} twice`
          : `STORAGE_LOCATIONS names ${other} and ${name}, whose settings have the same names (${variable})`,
        'give each location a name of its own',
      );
    }
    seen.set(variable, name);
  }
}

function readSetting(set: StorageConfig['STORAGE_*'], variable: string): string | undefined {
  const path = set[`${variable}_FILE`];
  if (path === undefined) return set[variable]?.trim() || undefined;
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (error) {
    throw createBootFailure(
      `${variable} cannot be read from the file that ${variable}_FILE names (${(error as NodeJS.ErrnoException).code})`,
      `correct or unset ${variable}_FILE`,
    );
  }
}

function parseDuration(variable: string, text: string | undefined): number {
  if (text === undefined) return THRESHOLD;
  try {
    return castSetting(text, { type: 'duration' }) as number;
  } catch (error) {
    if (!(error instanceof CastError)) throw error;
    throw createBootFailure(`${variable} ${error.message}`, `correct or unset ${variable}`);
  }
}

const createBootFailure = (reason: string, remedy: string) =>
  new BootFailure('@tenon/storage', 'config', reason, { remedy });
