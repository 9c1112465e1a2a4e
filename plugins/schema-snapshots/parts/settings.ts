import type { ExtensionSettingValues } from '../../extension-settings/contract.ts';
import type { JsonObject } from '../contract.ts';
import type { SnapshotPart } from './part.ts';
import { requireMember, withDefaults } from './record-members.ts';

const DEFAULTS: JsonObject = { subject: null, scope: 'global', scope_key: '', key: null, value: null };

const idOf = (record: JsonObject): string =>
  [
    requireMember(record, 'subject', 'settings'),
    requireMember(record, 'scope', 'settings'),
    String(record.scope_key ?? ''),
    requireMember(record, 'key', 'settings'),
  ].join('/');

/** Values of extension settings, without secrets. A value that a snapshot does not have stays: it may be one of this environment. */
export const createSettingsPart = (values: ExtensionSettingValues): SnapshotPart => ({
  name: 'settings',
  deletes: false,
  idOf,
  read: async () => (await values.list()).map((one) => ({ ...one })),
  complete: (record) => withDefaults(record, DEFAULTS),
  async apply(caller, changes) {
    for (const { after } of changes) {
      if (!after) continue;
      const { subject, scope, scope_key, key, value } = after;
      const place = { subject: String(subject), scope: String(scope), scope_key: String(scope_key), key: String(key) };
      await values.put(caller, { ...place, value });
    }
  },
});
