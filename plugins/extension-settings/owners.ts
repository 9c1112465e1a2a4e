import type { Log } from '#kernel';
import type { ExtensionSettings, SettingsOwner, SettingsStatus, SettingsUnavailableReason } from './contract.ts';
import { findSettingDeclaration } from './declaration.ts';
import { parseSettingsOwnerName, toDisplayName, toSecretEnvironmentVariableName } from './settings-owner-names.ts';

export interface ListedSettingsOwner {
  readonly owner: SettingsOwner;
  readonly status: SettingsStatus;
}

/** The packages with settings that this process knows. */
export interface SettingsOwnerRegistry {
  readonly load: ExtensionSettings['setOwners'];
  all(): readonly ListedSettingsOwner[];
  isAvailable(id: string): boolean;
  /** The one available package of this name. */
  findByName(subject: string): SettingsOwner | undefined;
  /** Whether any package of this name, available or not, declares the key as a secret. */
  isSecret(subject: string, key: string): boolean;
}

export function createSettingsOwnerRegistry(log: Pick<Log, 'warn'>): SettingsOwnerRegistry {
  let listed: readonly ListedSettingsOwner[] = [];
  return {
    load(declaredOwners) {
      const owners = declaredOwners.filter(({ declaration }) => Object.keys(declaration).length > 0);
      const collisions = findCollisions(owners, log);
      listed = owners.map((owner) => ({ owner, status: computeStatus(owner, owners, collisions) }));
      return new Map(listed.map(({ owner, status }) => [owner.id, status]));
    },
    all: () => listed,
    isAvailable: (id) => listed.some(({ owner, status }) => owner.id === id && status.status === 'available'),
    findByName: (subject) =>
      listed.find(({ owner, status }) => owner.name === subject && status.status === 'available')?.owner,
    isSecret: (subject, key) =>
      listed.some(
        ({ owner }) => owner.name === subject && findSettingDeclaration(owner.declaration, key)?.secret !== undefined,
      ),
  };
}

/** Conventions, "Subject availability": the settings become unavailable; the package loads all the same. */
function computeStatus(
  { name }: SettingsOwner,
  owners: readonly SettingsOwner[],
  collisions: ReadonlyMap<string, string>,
): SettingsStatus {
  if (!parseSettingsOwnerName(name))
    return unavailable('SETTINGS_SUBJECT_INVALID', `${quoted(name)} is not a name for settings.`);
  if (owners.filter((one) => one.name === name).length > 1) {
    const detail = `${quoted(name)} is the name of more than one installed extension with settings.`;
    return unavailable('SETTINGS_SUBJECT_DUPLICATE', detail);
  }
  const collision = collisions.get(name);
  return collision ? unavailable('SETTINGS_SUBJECT_CONFIG_COLLISION', collision) : { status: 'available' };
}

const unavailable = (code: SettingsUnavailableReason['code'], detail: string): SettingsStatus => ({
  status: 'unavailable',
  reason: { code, detail: detail.length > 300 ? `${detail.slice(0, 299)}…` : detail },
});
const quoted = (name: string): string => `"${toDisplayName(name)}"`;

interface Claim {
  readonly name: string;
  readonly key: string;
}

/**
 * Packages whose secrets would be read from one variable, each with a detail that names packages or keys. Only the log
 * names the variable. Several packages of one name are duplicates, not a collision.
 */
function findCollisions(owners: readonly SettingsOwner[], log: Pick<Log, 'warn'>): ReadonlyMap<string, string> {
  const claims = new Map<string, Claim[]>();
  for (const { name, declaration } of owners) {
    for (const [key, { secret }] of Object.entries(declaration)) {
      const variable = secret?.source === 'config' ? toSecretEnvironmentVariableName(name, key) : undefined;
      if (variable === undefined) continue;
      const others = claims.get(variable) ?? [];
      if (!others.some((one) => one.name === name && one.key === key)) others.push({ name, key });
      claims.set(variable, others);
    }
  }
  const details = new Map<string, string>();
  for (const [variable, group] of claims) {
    if (group.length < 2) continue;
    const names = [...new Set(group.map(({ name }) => name))];
    log.warn({ variable, claims: group }, 'one variable would be the secret of several settings');
    const affected =
      names.length > 1 ? `These packages: ${names.join(', ')}.` : `Keys: ${group.map(({ key }) => key).join(', ')}.`;
    const detail = `Several secrets would be read from one place of the configuration. ${affected}`;
    for (const name of names) if (!details.has(name)) details.set(name, detail);
  }
  return details;
}
