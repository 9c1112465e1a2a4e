import { type Caller, fail } from '#kernel';
import type { Collection } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { eventNames } from '../names.ts';
import { castKey, findWritable } from '../target.ts';
import { writeMany, writeOne } from './relations.ts';
import { withGenerated } from './specials.ts';
import { type Parts, split } from './split.ts';
import { deleteRows, insertRows, updateRows } from './statements.ts';

/** Verbs on the inside of a unit of work. `given` are values the platform sets: they need no grant of the caller. */
export interface Inner {
  create(caller: Caller, collection: string, payloads: readonly Payload[], given?: Payload): Promise<Key[]>;
  update(
    caller: Caller,
    collection: string,
    keys: readonly unknown[],
    payload: Payload,
    given?: Payload,
  ): Promise<Key[]>;
  remove(caller: Caller, collection: string, keys: readonly unknown[]): Promise<Key[]>;
}

/**
 * Writes in the order of the conventions: event filters, permission and field list, presets, validation, many-to-one
 * rows, the row itself, to-many rows, and actions once everything is committed.
 */
export function createInner(deps: Deps): Inner {
  const { db, schema, access, events, query } = deps;
  let written = 0;

  /** Every row of the whole tree counts, so a nested payload costs what it writes. */
  function spend(rows: number): void {
    written += rows;
    if (written > deps.maxMutations)
      throw fail('INVALID_PAYLOAD', `one request may write at most ${deps.maxMutations} rows`);
  }

  const inner: Inner = {
    async create(caller, name, payloads, given = {}) {
      spend(payloads.length);
      const target = await findWritable(schema, name);
      const { collection, overview } = target;
      const granted = withoutGrant(collection, given);
      const finals: Payload[] = [];
      const parts: Parts[] = [];
      for (const payload of payloads) {
        const meta = { caller, collection: name };
        const filtered = await events.filter(eventNames(collection, 'create'), { ...payload, ...given }, meta);
        const admitted = await access.admit(
          collection,
          'create',
          without(filtered, granted),
          caller,
          overview,
          granted,
        );
        const generated = await withGenerated(collection, 'create', { ...admitted, ...given }, caller, deps.hash);
        parts.push(await withOnes(caller, split(collection, generated)));
        finals.push(generated);
      }
      const keys = await insertRows(
        db,
        collection,
        parts.map((part) => part.own),
      );
      for (const [at, part] of parts.entries()) {
        for (const { field, value } of part.manys)
          await writeMany(deps, inner, caller, target, keys[at] as Key, field, value);
      }
      for (const [at, payload] of finals.entries()) {
        events.action(eventNames(collection, 'create'), { caller, collection: name, payload, key: keys[at] });
      }
      return keys;
    },

    async update(caller, name, rawKeys, payload, given = {}) {
      const target = await findWritable(schema, name);
      const { collection, overview, key } = target;
      const keys = [...new Set(rawKeys.map((raw) => castKey(key, raw)))];
      spend(keys.length);
      const meta = { caller, collection: name, keys };
      const filtered = await events.filter(eventNames(collection, 'update'), { ...payload, ...given }, meta);
      const granted = withoutGrant(collection, given);
      const submitted = without(filtered, granted);
      const where = await access.restrictWrite(collection, 'update', Object.keys(submitted), caller, overview);
      const admitted = await access.admit(collection, 'update', submitted, caller, overview, granted);
      const generated = await withGenerated(collection, 'update', { ...admitted, ...given }, caller, deps.hash);
      const { own: changed, manys } = await withOnes(caller, split(collection, generated));
      const own = withoutSameKey(key.name, keys, changed);
      const condition = query.condition(where, caller, overview, 2);
      const done = await updateRows(db, collection, keys, own, condition);
      if (done.length !== keys.length)
        throw fail('FORBIDDEN', `${keys.length - done.length} of the rows of ${name} may not be updated`);
      // Where the key itself is among the changes there is but one row, now known by its new key.
      const now = Object.hasOwn(own, key.name) ? done : keys;
      for (const one of now) {
        for (const { field, value } of manys) await writeMany(deps, inner, caller, target, one, field, value);
      }
      events.action(eventNames(collection, 'update'), { ...meta, payload: generated });
      return now;
    },

    async remove(caller, name, rawKeys) {
      const { collection, overview, key } = await findWritable(schema, name);
      const asked = [...new Set(rawKeys.map((raw) => castKey(key, raw)))];
      spend(asked.length);
      const meta = { caller, collection: name };
      const keys = await events.filter<readonly Key[]>(eventNames(collection, 'delete'), asked, {
        ...meta,
        keys: asked,
      });
      const where = await access.restrictWrite(collection, 'delete', [], caller, overview);
      const done = await deleteRows(db, collection, keys, query.condition(where, caller, overview, 2));
      // Nothing hides from an admin, so a row that is not there is simply gone already.
      if (done.length !== keys.length && !caller.admin)
        throw fail('FORBIDDEN', `some of the rows of ${name} may not be deleted`);
      events.action(eventNames(collection, 'delete'), { ...meta, payload: done, keys: done });
      return done;
    },
  };

  async function withOnes(caller: Caller, parts: Parts): Promise<Parts> {
    const own: Payload = { ...parts.own };
    for (const { field, value } of parts.ones) own[field.name] = await writeOne(deps, inner, caller, field, value);
    return { ...parts, own };
  }

  return inner;
}

/**
 * The values that need no grant of the caller. Whose key decides who somebody is (a user's role), the alias on the other
 * side is no way around the grant for it.
 */
const withoutGrant = (collection: Collection, given: Payload): Payload =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !collection.fields.get(name)?.sensitive));

/** A row sent back whole has its key with it, which is no change, and one that some columns would refuse. */
function withoutSameKey(name: string, keys: readonly Key[], payload: Payload): Payload {
  if (keys.length !== 1 || String(payload[name]) !== String(keys[0])) return payload;
  return Object.fromEntries(Object.entries(payload).filter(([other]) => other !== name));
}

/** Listeners see what the platform sets as well; permissions are asked about the rest only. */
const without = (payload: Payload, given: Payload): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !Object.hasOwn(given, name)));
