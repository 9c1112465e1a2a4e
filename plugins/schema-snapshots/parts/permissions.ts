import { fail } from '#kernel';
import type { ItemsEngine } from '../../items/contract.ts';
import type { JsonObject } from '../contract.ts';
import type { PartChange, SnapshotPart } from './part.ts';
import { requireMember, withDefaults } from './record-members.ts';

const COLLECTION = 'platform_permissions';
const DEFAULTS: JsonObject = {
  role: null,
  collection: null,
  action: null,
  permissions: null,
  validation: null,
  presets: null,
  fields: null,
};

interface StoredPermission extends JsonObject {
  readonly id: number;
  readonly role: { readonly id: string; readonly key: string };
}

const idOf = (record: JsonObject): string =>
  ['role', 'collection', 'action'].map((name) => requireMember(record, name, 'permissions')).join('/');

/** Permissions by the key of their role, their collection and their action: their own ids are numbers of one database. */
export function createPermissionsPart(items: ItemsEngine): SnapshotPart {
  const readStored = (caller: Parameters<SnapshotPart['read']>[0]) =>
    items.rows<StoredPermission>(caller, COLLECTION, {
      fields: ['id', 'role.id', 'role.key', 'collection', 'action', 'permissions', 'validation', 'presets', 'fields'],
      limit: -1,
    });
  const toRecord = (stored: StoredPermission): JsonObject =>
    withDefaults({ ...stored, role: stored.role.key }, DEFAULTS);

  return {
    name: 'permissions',
    deletes: true,
    idOf,
    async read(caller) {
      const records = (await readStored(caller)).map(toRecord);
      return records.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    },
    complete: (record) => withDefaults(record, DEFAULTS),
    async apply(caller, changes) {
      const stored = new Map((await readStored(caller)).map((one) => [idOf(toRecord(one)), one.id]));
      const roles = await items.rows<{ id: string; key: string }>(caller, 'platform_roles', {
        fields: ['id', 'key'],
        limit: -1,
      });
      const roleIds = new Map(roles.map(({ id, key }) => [key, id]));
      const deleted = changes.filter(({ after }) => !after).flatMap(({ id }) => stored.get(id) ?? []);
      if (deleted.length > 0) await items.deleteMany(caller, COLLECTION, deleted);
      for (const change of changes.filter(({ after }) => after)) {
        const payload = toPayload(change, roleIds);
        const id = stored.get(change.id);
        if (id === undefined) await items.createOne(caller, COLLECTION, payload);
        else await items.updateOne(caller, COLLECTION, id, payload);
      }
    },
  };
}

function toPayload({ id, after }: PartChange, roleIds: ReadonlyMap<string, string>) {
  const { role: key, ...values } = after as JsonObject;
  const role = roleIds.get(String(key));
  if (role === undefined) {
    const reason = `The permission "${id}" is for the role "${String(key)}", which does not exist. Add the part "roles".`;
    throw fail('INVALID_PAYLOAD', reason, { path: ['diff', 'permissions'] });
  }
  return { ...values, role };
}
