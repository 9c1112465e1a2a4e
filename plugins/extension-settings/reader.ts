import type { Declaration, SettingDeclaration } from './contract.ts';
import { declaredIn } from './declaration.ts';
import { variableOf } from './names.ts';
import type { Store } from './store.ts';
import type { SettingValue, Values } from './values.ts';

/** Reads one value of a package; null wherever there is none of the declared type. Database failures reject. */
export type ReadValue = (
  subject: string,
  declaration: Declaration,
  key: unknown,
  options?: unknown,
) => Promise<SettingValue | null>;

interface Deps {
  readonly store: Pick<Store, 'find'>;
  readonly values: Pick<Values, 'reveal'>;
  /** Secrets of the configuration by variable. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

export const createReadValue =
  ({ store, values, variables }: Deps): ReadValue =>
  async (subject, declaration, key, options) => {
    const declared = declaredIn(declaration, key);
    const scopeKey = declared && scopeKeyOf(declared, options);
    if (!declared || scopeKey === undefined) return null;
    if (declared.secret?.source === 'config') {
      const variable = variableOf(subject, key as string);
      return variable !== undefined && Object.hasOwn(variables, variable) ? (variables[variable] ?? null) : null;
    }
    const place = { extension: subject, scope: declared.scope, scope_key: scopeKey, key: key as string };
    const value = await store.find(place);
    return value === undefined ? null : values.reveal({ ...place, value }, declared);
  };

/** Undefined where the scope asked for is not the one declared. */
function scopeKeyOf({ scope }: SettingDeclaration, options: unknown): string | undefined {
  const { scope: asked = 'global', collection } = (options ?? {}) as { scope?: unknown; collection?: unknown };
  if (asked !== scope) return undefined;
  if (scope === 'global') return '';
  return typeof collection === 'string' && collection !== '' ? collection : undefined;
}
