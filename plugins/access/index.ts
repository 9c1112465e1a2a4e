import { type Caller, definePlugin, fail } from '#kernel';
import { bus } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { permissionRestrictionMarker, query } from '../query/contract.ts';
import { schema, systemCollections } from '../schema/contract.ts';
import * as collections from './collections.ts';
import { type AccessControl, access, sharedItemLookups } from './contract.ts';
import { effectivePermissions } from './effective-permissions.ts';
import { accessMigrations } from './migrations.ts';
import manifest from './package.json' with { type: 'json' };
import { createSubstituteDynamicValues } from './payload/dynamic-values.ts';
import { createValidatePayload } from './payload/validate-payload.ts';
import type { UnknownFieldsSetting } from './payload/writable-fields.ts';
import { createPermissionCleanUp } from './permission-cleanup.ts';
import { createPermissionResolver } from './permissions/permission-resolver.ts';
import { permittedFields } from './permitted-fields.ts';
import { createPrivilegeEscalationGuard, ROLE_AUTHORITY_FIELDS } from './privilege-escalation-guard.ts';
import { createFieldVisibility, createReadableFieldNamesLookup } from './readable-fields.ts';
import { createQueryRestrictions } from './restrict/index.ts';
import { createPermissionRowRules } from './restrict/row-rules.ts';
import { createSharePermissions } from './shares/share-permissions.ts';

interface Config {
  readonly ITEMS_UNKNOWN_FIELDS: UnknownFieldsSetting;
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { db, events } = host;
    const used = host.use({ query, sealing: permissionRestrictionMarker, schema, bus });
    for (const one of [collections.rolesCollection, collections.permissionsCollection])
      host.contribute(systemCollections, one);
    for (const one of accessMigrations(db)) host.contribute(migrations, one);

    host.define(sharedItemLookups);
    const sharedItem = async (share: string) => host.read(sharedItemLookups)?.find(share);
    const resolver = createPermissionResolver({ db, bus: used.bus });
    const { permissionsOfRole, role, forget } = resolver;
    const rules = createPermissionRowRules(used.query);
    const permissionsOfShare = createSharePermissions({
      find: sharedItem,
      permissionsOfRole,
      snapshot: () => used.schema.snapshot(),
      rules,
    });
    const permissions = (caller: Caller) =>
      caller.share ? permissionsOfShare(caller.share) : resolver.permissions(caller);
    host.provide<AccessControl>(access, {
      permissions,
      role,
      sharedItem,
      ...createQueryRestrictions({ permissions, rules, seal: used.sealing.seal }),
      validatePayload: createValidatePayload({
        permissions,
        substitute: createSubstituteDynamicValues(used.sealing.readValue),
        unknownFields: host.config.ITEMS_UNKNOWN_FIELDS,
      }),
      assertAuthority: createPrivilegeEscalationGuard(db),
      isAllowed: async (caller, action, collection) => (await permissions(caller)).of(collection, action).length > 0,
      async assertAllowed(caller, action, collection) {
        if ((await permissions(caller)).of(collection, action).length === 0)
          throw fail('FORBIDDEN', `no ${action} permission on ${collection}`);
      },
      effectivePermissions: async (caller) =>
        effectivePermissions(await permissions(caller), await used.schema.snapshot()),
      fieldVisibility: createFieldVisibility,
      permittedFields,
      readableFields: createReadableFieldNamesLookup(permissions),
    });

    // The writer's next request must see the change, so this process does not wait for the database notification.
    for (const verb of ['create', 'update', 'delete']) {
      events.onAction(`permissions.${verb}`, forget);
      events.onAction(`roles.${verb}`, forget);
    }
    // A change that may remove access is answered after every process has confirmed it; an added permission may take effect later.
    const confirm = () => db.answerAfter(used.bus.waitForConfirmation);
    for (const event of ['permissions.update', 'permissions.delete', 'roles.delete']) events.onFilter(event, confirm);
    events.onFilter('roles.update', (payload) => {
      if (ROLE_AUTHORITY_FIELDS.some((name) => Object.hasOwn(payload as object, name))) confirm();
    });
    const cleanUp = createPermissionCleanUp(db);
    events.onFilter('collections.delete', async (_payload, { keys }) => {
      await cleanUp.forgetCollections(keys as string[]);
      db.afterCommit(forget);
    });
    events.onFilter('fields.delete', async (_payload, { collection, keys }) => {
      const snapshot = await used.schema.snapshot();
      const key = snapshot.collections.get(collection as string)?.primary ?? null;
      await cleanUp.forgetFields(collection as string, keys as string[], key);
      db.afterCommit(forget);
    });
  },
});
