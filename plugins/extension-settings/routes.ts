import { type Caller, fail } from '#kernel';
import type { Access } from '../access/contract.ts';
import type { Activity } from '../activity/contract.ts';
import type { Db } from '../database/contract.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, rawQueryOf, sendData } from '../http/library.ts';
import type { Schema } from '../schema/contract.ts';
import type { SecretStore } from '../secrets/contract.ts';
import { admit } from './admission.ts';
import { readableByApp } from './app-values.ts';
import { collectionOf, deletionOf, listOf, subjectOf, writeOf } from './bodies.ts';
import { SETTINGS } from './collections.ts';
import { APP, LIST, OWNERS, REMOVE, WRITE } from './descriptions.ts';
import { shown } from './names.ts';
import type { Listed, Owners } from './owners.ts';
import type { Place, Store } from './store.ts';
import type { Values } from './values.ts';

export interface RouteDeps {
  readonly access: Pick<Access, 'may'>;
  readonly activity: Pick<Activity, 'record'>;
  readonly db: Pick<Db, 'transaction'>;
  readonly owners: Owners;
  readonly schema: Pick<Schema, 'overview' | 'refresh'>;
  readonly secrets: Pick<SecretStore, 'available'>;
  readonly store: Store;
  readonly values: Values;
}

const PATH = '/extension-settings';

/** Specification, "Extension settings endpoints". */
export function settingsRoutes(deps: RouteDeps): readonly Route[] {
  const { access, activity, db, owners, store, values } = deps;
  /** What was set, never to what. */
  const record = (caller: Caller, action: 'update' | 'delete', which: Pick<Place, 'extension'> | Place) =>
    activity.record(caller, { action, collection: SETTINGS, item: titleOf(which) });

  async function list(ctx: HttpContext): Promise<void> {
    const { subject, narrow } = listOf(rawQueryOf(ctx));
    const rows = await store.list(subject, narrow);
    const readable = rows.flatMap((row) => {
      const { scope, scope_key, key } = row;
      const masked = values.masked(row, owners.isSecret(subject, key));
      return masked ? [{ scope, scope_key, key, value: masked.value }] : [];
    });
    sendData(ctx, readable);
  }

  async function write(ctx: HttpContext): Promise<void> {
    const { place, value } = writeOf(bodyOf(ctx));
    const admitted = await admit(deps, place, value);
    const stored = values.stored(place, admitted.declared, admitted.value);
    await db.transaction(async () => {
      await store.put({ ...place, value: stored });
      await record(ctx.state.caller, 'update', place);
    });
    sendData(ctx, null);
  }

  async function remove(ctx: HttpContext): Promise<void> {
    const which = deletionOf(bodyOf(ctx));
    const removed = await db.transaction(async () => {
      const count = await store.remove(which);
      if (count > 0) await record(ctx.state.caller, 'delete', which);
      return count;
    });
    sendData(ctx, { removed });
  }

  async function forApp(ctx: HttpContext): Promise<void> {
    const { caller } = ctx.state;
    if (caller.user === null || !(caller.app || caller.admin))
      throw fail('FORBIDDEN', 'only users with app access read settings of extensions');
    const query = rawQueryOf(ctx);
    const [subject, collection] = [subjectOf(query), collectionOf(query)];
    const mayRead =
      collection !== undefined &&
      (await deps.schema.overview()).collections.has(collection) &&
      (await access.may(caller, 'read', collection));
    sendData(ctx, await readableByApp(deps, subject, mayRead ? collection : undefined));
  }

  return [
    { method: 'GET', path: PATH, description: LIST, handle: forAdmins(list) },
    { method: 'POST', path: PATH, description: WRITE, handle: forAdmins(write) },
    { method: 'DELETE', path: PATH, description: REMOVE, handle: forAdmins(remove) },
    {
      method: 'GET',
      path: `${PATH}/owners`,
      description: OWNERS,
      handle: forAdmins((ctx) => sendData(ctx, owners.all().map(ownerRecord))),
    },
    { method: 'GET', path: `${PATH}/app`, description: APP, handle: forApp },
  ];
}

const forAdmins =
  (handle: Route['handle']): Route['handle'] =>
  (ctx) => {
    if (!ctx.state.caller.admin) throw fail('FORBIDDEN', 'only admins may see and change settings of extensions');
    return handle(ctx);
  };

const ownerRecord = ({ owner: { name, declaration }, status }: Listed): object =>
  status.status === 'available'
    ? { subject: name, displaySubject: name, ...status, declaration }
    : { displaySubject: shown(name), ...status };

/** As much as an entry of the activity holds. */
const titleOf = (which: Pick<Place, 'extension'> | Place): string => {
  const parts = 'key' in which ? [which.extension, which.scope_key, which.key] : [which.extension];
  return shown(parts.filter((part) => part !== '').join('/'));
};
