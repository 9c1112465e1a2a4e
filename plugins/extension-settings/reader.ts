import type { SettingDeclaration, SettingsDeclaration } from './contract.ts';
import { findSettingDeclaration } from './declaration.ts';
import { toSecretEnvironmentVariableName } from './settings-owner-names.ts';
import type { SettingStore } from './store.ts';
import type { SettingValue, SettingValueCodec } from './value-codec.ts';

/** Reads one value of a package; null if there is none of the declared type. Rejects with SERVICE_UNAVAILABLE. */
export type ReadSettingValue = (
  subject: string,
  declaration: SettingsDeclaration,
  key: unknown,
  options?: unknown,
) => Promise<SettingValue | null>;

interface Deps {
  readonly store: Pick<SettingStore, 'find'>;
  readonly values: Pick<SettingValueCodec, 'reveal'>;
  /** The `SERVICE_EXT_*` variables by name. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

export const createReadSettingValue =
  ({ store, values, variables }: Deps): ReadSettingValue =>
  async (subject, declaration, key, options) => {
    const declared = findSettingDeclaration(declaration, key);
    const scopeKey = declared && resolveScopeKey(declared, options);
    if (!declared || scopeKey === undefined) return null;
    if (declared.secret?.source === 'config') {
      const variable = toSecretEnvironmentVariableName(subject, key as string);
      return variable !== undefined && Object.hasOwn(variables, variable) ? (variables[variable] ?? null) : null;
    }
    const location = { extension: subject, scope: declared.scope, scope_key: scopeKey, key: key as string };
    const value = await store.find(location);
    return value === undefined ? null : values.reveal({ ...location, value }, declared);
  };

/** Undefined if the requested scope is not the declared one. */
function resolveScopeKey({ scope }: SettingDeclaration, options: unknown): string | undefined {
  const { scope: requestedScope = 'global', collection } = (options ?? {}) as { scope?: unknown; collection?: unknown };
  if (requestedScope !== scope) return undefined;
  if (scope === 'global') return '';
  return typeof collection === 'string' && collection !== '' ? collection : undefined;
}
