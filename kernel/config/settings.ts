import { assertNoSettingsProblems } from '../lifecycle/boot-failure.ts';
import type { Manifest } from '../manifest/validate.ts';
import { CastError, type ConfigKey, castSetting } from './cast.ts';
import { type Environment, readRawSetting, readSettingsFile } from './environment.ts';

type Declaration = { readonly owner: string; readonly key: ConfigKey };

/**
 * All settings, with owner and value: default < environment < file named by CONFIG_PATH, with `<KEY>_FILE` naming a file that
 * holds the value. A key has one owner. Another plugin reads it only where its manifest lists it under `config.shared`, and never
 * where it is a secret.
 */
export class SettingsStore {
  /** The settings as text, before defaults and types are applied. */
  readonly source: Environment;
  readonly #declared = new Map<string, Declaration>();
  readonly #values = new Map<string, unknown>();
  readonly #shared = new Map<string, readonly string[]>();

  constructor(environment: Environment) {
    this.source = { ...environment, ...readSettingsFile(environment) };
  }

  /**
   * Declares and reads the keys of one owner. Returns the problems of their values, so that boot reports all of them together.
   * @throws BootFailure for a key or pattern that another owner has.
   */
  declare(owner: string, config: Manifest['config'] = {}): readonly string[] {
    const { shared = [], ...keys } = config as Readonly<Record<string, ConfigKey>> & { shared?: readonly string[] };
    const conflicts = Object.keys(keys).flatMap((name) => this.#conflicts(owner, name));
    assertNoSettingsProblems(owner, conflicts);
    for (const [name, key] of Object.entries(keys)) this.#declared.set(name, { owner, key });
    this.#shared.set(owner, shared);
    return Object.entries(keys).flatMap(([name, key]) => this.#read(name, key));
  }

  /** Runs once all owners have declared their keys. @throws BootFailure for shared keys that no plugin owns, or that are secrets. */
  assertShared(owner: string): void {
    const wrong = (this.#shared.get(owner) ?? []).flatMap((name) => {
      const declared = this.#declared.get(name);
      if (!declared) return [`${name} is shared by no plugin`];
      return declared.key.secret || isPattern(name) ? [`${name} is a secret of ${declared.owner}`] : [];
    });
    assertNoSettingsProblems(owner, wrong);
  }

  /** The settings that an owner may read: its own and those it shares. A pattern such as `SERVICE_EXT_*` holds all that match, by name. */
  viewOf(owner: string): Readonly<Record<string, unknown>> {
    const own = [...this.#declared].flatMap(([name, one]) => (one.owner === owner ? [name] : []));
    const names = [...own, ...(this.#shared.get(owner) ?? [])];
    return Object.freeze(Object.fromEntries(names.map((name) => [name, this.#values.get(name)])));
  }

  value<T>(name: string): T {
    return this.#values.get(name) as T;
  }

  removeOwner(owner: string): void {
    this.#shared.delete(owner);
    for (const [name, one] of this.#declared) {
      if (one.owner !== owner) continue;
      this.#declared.delete(name);
      this.#values.delete(name);
    }
  }

  /** All declared settings by name; a pattern's values are under the pattern. */
  declared(): readonly (Declaration & { readonly name: string; readonly value: unknown })[] {
    return [...this.#declared].map(([name, one]) => ({ ...one, name, value: this.#values.get(name) }));
  }

  #conflicts(owner: string, name: string): readonly string[] {
    if (isPattern(name) && !/^[A-Z][A-Z0-9]*_/.test(name)) {
      return [`${name} stands for settings of any owner: a pattern begins with a whole word and "_"`];
    }
    return [...this.#declared].flatMap(([other, { owner: holder }]) => {
      if (holder === owner || !overlaps(name, other)) return [];
      if (name === other) return [`the setting ${name} already belongs to ${holder}: list it under config.shared`];
      return [`the setting ${name} overlaps with ${other}, which belongs to ${holder}`];
    });
  }

  #read(name: string, key: ConfigKey): readonly string[] {
    try {
      const read = isPattern(name) ? readPattern : readSetting;
      this.#values.set(name, read(this.source, name, key));
      return [];
    } catch (error) {
      if (!(error instanceof CastError)) throw error;
      return [`${name} ${error.message}`];
    }
  }
}

const isPattern = (name: string): boolean => name.endsWith('*');
const covers = (a: string, b: string): boolean => isPattern(a) && b.startsWith(a.slice(0, -1));

/** Whether two names or patterns can match the same setting. */
const overlaps = (a: string, b: string): boolean =>
  a === b || a === `${b}_FILE` || b === `${a}_FILE` || covers(a, b) || covers(b, a);

function readSetting(source: Environment, name: string, key: ConfigKey): unknown {
  const raw = readRawSetting(source, name);
  return raw === undefined ? key.default : castSetting(raw, key);
}

/** Reads all settings that match a pattern. Here `<KEY>_FILE` is a setting like any other, and strings are not trimmed. */
function readPattern(source: Environment, pattern: string, key: ConfigKey): Readonly<Record<string, unknown>> {
  const fitting = Object.entries(source).flatMap(([name, text]) =>
    covers(pattern, name) && text ? [[name, key.type === 'string' ? text : castSetting(text, key)]] : [],
  );
  return Object.freeze(Object.fromEntries(fitting));
}
