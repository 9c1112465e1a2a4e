import { fail } from '#kernel';
import { CONCEALED_VALUE_MASK } from '../access/contract.ts';
import type { SchemaService } from '../schema/contract.ts';
import type { SecretCipher } from '../secrets/contract.ts';
import type { SettingDeclaration } from './contract.ts';
import { findSettingDeclaration } from './declaration.ts';
import type { SettingsOwnerRegistry } from './owners.ts';
import type { SettingRowIdentity } from './store.ts';
import { isOfSettingType, type SettingValue } from './value-codec.ts';

interface Deps {
  readonly owners: Pick<SettingsOwnerRegistry, 'findByName'>;
  readonly schema: Pick<SchemaService, 'snapshot' | 'refresh'>;
  readonly secrets: Pick<SecretCipher, 'available'>;
}

export interface ValidatedSettingWrite {
  readonly declared: SettingDeclaration;
  readonly value: SettingValue;
}

const createInvalidPayload = (what: string) => fail('INVALID_PAYLOAD', what);

/**
 * Validates a write of a setting (conventions, "Routes").
 * @throws FORBIDDEN without an available owner, INVALID_PAYLOAD for a wrong key, scope or value, INVALID_CONFIG for a
 * secret without SECRETS_ENCRYPTION_KEY.
 */
export async function validateSettingWrite(
  { owners, schema, secrets }: Deps,
  location: SettingRowIdentity,
  value: unknown,
): Promise<ValidatedSettingWrite> {
  const owner = owners.findByName(location.extension);
  if (!owner) throw fail('FORBIDDEN', 'no available owner of settings has this name');
  const declared = findSettingDeclaration(owner.declaration, location.key);
  if (!declared) throw createInvalidPayload('The extension declares no such key.');
  if (location.scope !== declared.scope) throw createInvalidPayload(`The scope of this key is ${declared.scope}.`);
  if (declared.scope === 'global' && location.scope_key !== '')
    throw createInvalidPayload('"scope_key" of a global key must be empty.');
  if (declared.scope === 'collection' && !(await isCollection(schema, location.scope_key)))
    throw createInvalidPayload('"scope_key" names no collection.');
  // The type is checked before the encryption key, so that the answer to a wrong value does not tell whether there is a
  // key.
  if (declared.secret?.source === 'config') throw createInvalidPayload('This secret is set by the configuration.');
  if (!isOfSettingType(value, declared.type))
    throw createInvalidPayload(`The value must be of the type ${declared.type}.`);
  if (declared.secret && value === CONCEALED_VALUE_MASK)
    throw createInvalidPayload('The mask of a secret is not its value.');
  if (declared.secret && !secrets.available())
    throw fail('INVALID_CONFIG', 'Secrets cannot be stored: SECRETS_ENCRYPTION_KEY is not set.');
  return { declared, value };
}

/** Whether a collection has this name. Refreshes the schema snapshot before it answers false. */
const isCollection = async (schema: Deps['schema'], name: string): Promise<boolean> =>
  (await schema.snapshot()).collections.has(name) || (await schema.refresh()).collections.has(name);
