import { type Caller, fail } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { HistoryRecorder } from '../activity/contract.ts';
import type { Db } from '../database/contract.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, parsedQueryStringOf, sendData } from '../http/library.ts';
import type { SchemaService } from '../schema/contract.ts';
import type { SecretCipher } from '../secrets/contract.ts';
import { readAppReadableSettings } from './app-readable-settings.ts';
import { EXTENSION_SETTINGS_TABLE } from './collections.ts';
import type { ListedSettingsOwner, SettingsOwnerRegistry } from './owners.ts';
import {
  parseCollectionParameter,
  parseSettingDeletionBody,
  parseSettingsListQuery,
  parseSettingsSubject,
  parseSettingWriteBody,
} from './parse-requests.ts';
import {
  APP_SETTINGS_ROUTE_DESCRIPTION,
  LIST_SETTINGS_ROUTE_DESCRIPTION,
  REMOVE_SETTINGS_ROUTE_DESCRIPTION,
  SETTINGS_OWNERS_ROUTE_DESCRIPTION,
  WRITE_SETTING_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';
import { toDisplayName } from './settings-owner-names.ts';
import type { SettingRowIdentity, SettingStore } from './store.ts';
import { validateSettingWrite } from './validate-write.ts';
import type { SettingValueCodec } from './value-codec.ts';

export interface ExtensionSettingsRouteDeps {
  readonly access: Pick<AccessControl, 'isAllowed'>;
  readonly activity: Pick<HistoryRecorder, 'record'>;
  readonly db: Pick<Db, 'transaction'>;
  readonly owners: SettingsOwnerRegistry;
  readonly schema: Pick<SchemaService, 'snapshot' | 'refresh'>;
  readonly secrets: Pick<SecretCipher, 'available'>;
  readonly store: SettingStore;
  readonly values: SettingValueCodec;
}

const PATH = '/extension-settings';

/** Specification, "Extension settings endpoints". */
export function createExtensionSettingsRoutes(deps: ExtensionSettingsRouteDeps): readonly Route[] {
  const { access, activity, db, owners, store, values } = deps;
  /** Records in the activity which setting changed, never its value. */
  const record = (
    caller: Caller,
    action: 'update' | 'delete',
    target: Pick<SettingRowIdentity, 'extension'> | SettingRowIdentity,
  ) => activity.record(caller, { action, collection: EXTENSION_SETTINGS_TABLE, item: toActivityItem(target) });

  async function list(ctx: HttpContext): Promise<void> {
    const { subject, narrow } = parseSettingsListQuery(parsedQueryStringOf(ctx));
    const rows = await store.list(subject, narrow);
    const readable = rows.flatMap((row) => {
      const { scope, scope_key, key } = row;
      const masked = values.mask(row, owners.isSecret(subject, key));
      return masked ? [{ scope, scope_key, key, value: masked.value }] : [];
    });
    sendData(ctx, readable);
  }

  async function write(ctx: HttpContext): Promise<void> {
    const { location, value } = parseSettingWriteBody(bodyOf(ctx));
    const validated = await validateSettingWrite(deps, location, value);
    const stored = values.serialize(location, validated.declared, validated.value);
    await db.transaction(async () => {
      await store.put({ ...location, value: stored });
      await record(ctx.state.caller, 'update', location);
    });
    sendData(ctx, null);
  }

  async function remove(ctx: HttpContext): Promise<void> {
    const target = parseSettingDeletionBody(bodyOf(ctx));
    const removed = await db.transaction(async () => {
      const count = await store.remove(target);
      if (count > 0) await record(ctx.state.caller, 'delete', target);
      return count;
    });
    sendData(ctx, { removed });
  }

  async function forApp(ctx: HttpContext): Promise<void> {
    const { caller } = ctx.state;
    if (caller.user === null || !(caller.app || caller.admin))
      throw fail('FORBIDDEN', 'only users with app access read settings of extensions');
    const query = parsedQueryStringOf(ctx);
    const [subject, collection] = [parseSettingsSubject(query), parseCollectionParameter(query)];
    const mayRead =
      collection !== undefined &&
      (await deps.schema.snapshot()).collections.has(collection) &&
      (await access.isAllowed(caller, 'read', collection));
    sendData(ctx, await readAppReadableSettings(deps, subject, mayRead ? collection : undefined));
  }

  return [
    { method: 'GET', path: PATH, description: LIST_SETTINGS_ROUTE_DESCRIPTION, handle: forAdmins(list) },
    { method: 'POST', path: PATH, description: WRITE_SETTING_ROUTE_DESCRIPTION, handle: forAdmins(write) },
    { method: 'DELETE', path: PATH, description: REMOVE_SETTINGS_ROUTE_DESCRIPTION, handle: forAdmins(remove) },
    {
      method: 'GET',
      path: `${PATH}/owners`,
      description: SETTINGS_OWNERS_ROUTE_DESCRIPTION,
      handle: forAdmins((ctx) => sendData(ctx, owners.all().map(toOwnerRecord))),
    },
    { method: 'GET', path: `${PATH}/app`, description: APP_SETTINGS_ROUTE_DESCRIPTION, handle: forApp },
  ];
}

const forAdmins =
  (handle: Route['handle']): Route['handle'] =>
  (ctx) => {
    if (!ctx.state.caller.admin) throw fail('FORBIDDEN', 'only admins may see and change settings of extensions');
    return handle(ctx);
  };

const toOwnerRecord = ({ owner: { name, declaration }, status }: ListedSettingsOwner): object =>
  status.status === 'available'
    ? { subject: name, displaySubject: name, ...status, declaration }
    : { displaySubject: toDisplayName(name), ...status };

/** The `item` of the activity row about a setting: extension, collection and key. */
const toActivityItem = (target: Pick<SettingRowIdentity, 'extension'> | SettingRowIdentity): string => {
  const parts = 'key' in target ? [target.extension, target.scope_key, target.key] : [target.extension];
  return toDisplayName(parts.filter((part) => part !== '').join('/'));
};
