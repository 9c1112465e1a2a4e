import type { SignInProvider } from '../../auth/contract.ts';
import type { InputField } from '../fields.ts';
import type { FormFields } from '../form-token.ts';

/** Prefix of the names of credentials in a form, so that they meet no other field. */
const PREFIX = 'credential.';

interface PropertySchema {
  readonly type?: unknown;
  readonly title?: unknown;
  readonly format?: unknown;
}

/** `corporate_ldap` as a person reads it: `Corporate ldap`. */
export function humanizeName(name: string): string {
  const words = name
    .replaceAll(/[_.-]+/g, ' ')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const labelOf = ({ label, provider }: Pick<SignInProvider, 'label' | 'provider'>): string =>
  label ?? humanizeName(provider);

/** The texts among the credentials of a provider: its JSON schema says which there are. */
function textPropertiesOf({ schema }: SignInProvider): readonly (readonly [name: string, PropertySchema])[] {
  const { properties } = (schema ?? {}) as { readonly properties?: Readonly<Record<string, PropertySchema>> };
  return Object.entries(properties ?? {}).filter(([, { type }]) => [type].flat().includes('string'));
}

const isSecret = (name: string, { format }: PropertySchema): boolean =>
  format === 'password' || /password|passphrase|secret|pin$/i.test(name);

/** The inputs of a provider's form. `values`: what was typed before; passwords are typed again. */
export function providerFieldsOf(provider: SignInProvider, values: FormFields): readonly InputField[] {
  const required = (provider.schema?.required ?? []) as readonly string[];
  return textPropertiesOf(provider).map(([name, property]) => {
    const type = isSecret(name, property) ? 'password' : property.format === 'email' ? 'email' : 'text';
    return {
      id: `${provider.provider}-${name}`.replaceAll(/[^\w-]/g, '-'),
      name: PREFIX + name,
      label:
        typeof property.title === 'string' ? property.title : name === 'identifier' ? 'User name' : humanizeName(name),
      type,
      value: values[PREFIX + name],
      autocomplete: type === 'password' ? 'current-password' : 'username',
      isRequired: required.includes(name),
      isVerbatim: type !== 'password',
    };
  });
}

/** The credentials of a posted form; empty fields are left out. */
export function readCredentials(provider: SignInProvider, fields: FormFields): Readonly<Record<string, string>> {
  const all = textPropertiesOf(provider).map(([name]) => [name, fields[PREFIX + name]] as const);
  return Object.fromEntries(all.filter((entry): entry is readonly [string, string] => Boolean(entry[1])));
}
