import type { ItemsEngine } from '../../items/contract.ts';
import type { JsonObject } from '../contract.ts';
import type { SnapshotPart } from './part.ts';
import { requireMember, withDefaults } from './record-members.ts';

const COLLECTION = 'platform_roles';
const DEFAULTS: JsonObject = {
  key: null,
  id: null,
  name: null,
  icon: 'supervised_user_circle',
  description: null,
  ip_access: null,
  enforce_tfa: false,
  admin_access: false,
  app_access: true,
};

/** Roles by their key: databases that were set up apart have other ids for the same role. */
export const createRolesPart = (items: ItemsEngine): SnapshotPart => ({
  name: 'roles',
  deletes: true,
  idOf: (record) => requireMember(record, 'key', 'roles'),
  read: (caller) =>
    items.rows<JsonObject>(caller, COLLECTION, { fields: Object.keys(DEFAULTS), sort: ['key'], limit: -1 }),
  complete(record, current) {
    const known = current.find(({ key }) => key === record.key);
    return { ...withDefaults(record, DEFAULTS), id: known?.id ?? record.id ?? null };
  },
  async apply(caller, changes) {
    for (const { before, after } of changes) {
      const { id, ...values } = after ?? {};
      if (!after) await items.deleteMany(caller, COLLECTION, [before?.id]);
      else if (before) await items.updateOne(caller, COLLECTION, before.id, values);
      else await items.createOne(caller, COLLECTION, { ...values, ...(id === null ? {} : { id }) });
    }
  },
});
