import type { SettingDeclaration, SettingsDeclaration } from './contract.ts';
import { findDeclaration } from './declaration.ts';
import { toVariableName } from './names.ts';
import type { SettingStore } from './store.ts';
import type { SettingValue, SettingValues } from './values.ts';

/** Reads one value of a package; null wherever there is none of the declared type. Database failures reject. */
export type ReadValue = (
  subject: string,
  declaration: SettingsDeclaration,
  key: unknown,
  options?: unknown,
) => Promise<SettingValue | null>;

interface Deps {
  readonly store: Pick<SettingStore, 'find'>;
  readonly values: Pick<SettingValues, 'reveal'>;
  /** Secrets of the configuration by variable. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

export const createReadValue =
  ({ store, values, variables }: Deps): ReadValue =>
  async (subject, declaration, key, options) => {
    const declared = findDeclaration(declaration, key);
    const scopeKey = declared && resolveScopeKey(declared, options);
    if (!declared || scopeKey === undefined) return null;
    if (declared.secret?.source === 'config') {
      const variable = toVariableName(subject, key as string);
      return variable !== undefined && Object.hasOwn(variables, variable) ? (variables[variable] ?? null) : null;
    }
    const place = { extension: subject, scope: declared.scope, scope_key: scopeKey, key: key as string };
    const value = await store.find(place);
    return value === undefined ? null : values.reveal({ ...place, value }, declared);
  };

/** Undefined where the scope asked for is not the one declared. */
function resolveScopeKey({ scope }: SettingDeclaration, options: unknown): string | undefined {
  const { scope: asked = 'global', collection } = (options ?? {}) as { scope?: unknown; collection?: unknown };
  if (asked !== scope) return undefined;
  if (scope === 'global') return '';
  return typeof collection === 'string' && collection !== '' ? collection : undefined;
}
