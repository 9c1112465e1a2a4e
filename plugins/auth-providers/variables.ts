import { BootFailure } from '#kernel';
import type { AuthProviderVariables } from '../auth/contract.ts';

/** The settings of one provider as text. */
export interface ProviderVariables {
  readonly name: string;
  /** `AUTH_<NAME>_`, with which the names of its variables begin. */
  readonly prefix: string;
  /** Texts by key; `<KEY>_FILE` is one like any other. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Providers in their order, and variables that belong to none. */
export interface ParsedProviderVariables {
  readonly providers: readonly ProviderVariables[];
  readonly strays: readonly string[];
}

const NAME = /^[A-Za-z0-9][\w-]{0,63}$/;
const DRIVER = /^AUTH_(\w+)_DRIVER$/;
/** Settings of `auth` itself. */
const OTHERS: ReadonlySet<string> = new Set(
  ['AUTH_PROVIDERS', 'AUTH_DISABLE_DEFAULT'].flatMap((name) => [name, `${name}_FILE`]),
);

const prefixOf = (name: string): string => `AUTH_${name.toUpperCase().replaceAll('-', '_')}_`;

export const createProviderBootFailure = (reason: string, remedy: string, cause?: unknown) =>
  new BootFailure('@tenon/auth-providers', 'start', reason, { remedy, cause });

/**
 * Finds the providers: those of AUTH_PROVIDERS, or all that have a driver, by name. A variable belongs to the provider with the longest
 * prefix, so that `corp` and `corp_eu` can both exist. @throws BootFailure for names that cannot be.
 */
export function parseProviderVariables({ providers, variables }: AuthProviderVariables): ParsedProviderVariables {
  const found = Object.keys(variables).flatMap((variable) => DRIVER.exec(variable)?.[1]?.toLowerCase() ?? []);
  const names = providers ?? found.toSorted();
  assertProviderNames(names);
  const prefixes = [...new Set([...names, ...found].map(prefixOf))].sort((a, b) => b.length - a.length);
  const texts = new Map(prefixes.map((prefix) => [prefix, new Map<string, string>()]));
  const strays: string[] = [];
  for (const [variable, text] of Object.entries(variables)) {
    if (OTHERS.has(variable)) continue;
    const prefix = prefixes.find((one) => variable.startsWith(one) && variable.length > one.length);
    if (prefix === undefined) strays.push(variable);
    else texts.get(prefix)?.set(variable.slice(prefix.length), text);
  }
  return {
    strays,
    providers: names.map((name) => {
      const prefix = prefixOf(name);
      return { name, prefix, texts: texts.get(prefix) ?? new Map() };
    }),
  };
}

function assertProviderNames(names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    if (!NAME.test(name) || name === 'default') {
      throw createProviderBootFailure(
        `${JSON.stringify(name)} is no name for a sign-in provider`,
        'use letters, digits, "_" and "-" only, 64 characters at most, and not "default" (AUTH_PROVIDERS, AUTH_<NAME>_DRIVER)',
      );
    }
    const other = seen.get(prefixOf(name));
    if (other !== undefined) {
      throw createProviderBootFailure(
        other === name
          ? `AUTH_PROVIDERS names ${name} twice`
          : `AUTH_PROVIDERS names ${other} and ${name}, whose settings have the same names (${prefixOf(name)}*)`,
        'give each provider a name of its own',
      );
    }
    seen.set(prefixOf(name), name);
  }
}
