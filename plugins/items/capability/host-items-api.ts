import { Failure, type GrantHolder } from '#kernel';
import type { ConfinedCodeInvocation } from '../../broker/contract.ts';
import type { ReadResultText } from '../../query/contract.ts';
import type { ItemsApi } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import type { ReadVerbs } from '../read/read.ts';
import { createItemWrites } from '../write/write.ts';
import { assertQueryReadable } from './assert-readable.ts';
import { parseBoundedQuery } from './bounded-query.ts';
import type { RunWithinCallLimit } from './call-limit.ts';
import type { ItemsGrant } from './grant.ts';
import { createInvalidRequestRefusal } from './input-checks.ts';
import { runInInvocation } from './invocation-scope.ts';
import { createPackageItemRights, type PackageItemRights } from './item-rights.ts';
import {
  CONFINED_WRITE_BOUNDS,
  requireBoundedDistinctKeys,
  requireBoundedPayload,
  requireBoundedPayloads,
  requireTextOrNumberKey,
} from './parse-bounded-payload.ts';

/** Largest reply to one call of confined code, in bytes of JSON. */
export const MAX_ITEMS_REPLY_BYTES = 2 * 1024 * 1024;

type ListenerFreeReads = Pick<ReadVerbs, 'readWithoutListeners'>;
type ItemsApiReads = Pick<ItemsApi, 'readMany' | 'readOne'>;

/**
 * The verbs of `host.items` for one package, within its grant and the bounds of confined code (conventions, "items").
 */
export function createGrantBoundItemsApi(
  deps: ItemsEngineDeps,
  reads: ListenerFreeReads,
  grant: ItemsGrant,
  subject: GrantHolder,
  runLimited: RunWithinCallLimit,
): ItemsApi {
  const rights = createPackageItemRights(grant, subject);
  const api: ItemsApi = { ...createReadVerbs(deps, reads, rights), ...createWriteVerbs(deps, rights) };
  /**
   * Limits concurrent calls, except inside of a unit of work: it has one connection, so a call that waits for a free
   * place could deadlock.
   */
  const withConcurrencyLimit =
    <Args extends unknown[], T>(run: (invocation: ConfinedCodeInvocation, ...args: Args) => Promise<T>) =>
    (invocation: ConfinedCodeInvocation, ...args: Args): Promise<T> => {
      const work = () => run(invocation, ...args);
      return deps.db.isInUnitOfWork() ? work() : runLimited(subject.name, invocation.signal, work);
    };
  return Object.fromEntries(
    Object.entries(api).map(([name, run]) => [name, withConcurrencyLimit(run)]),
  ) as unknown as ItemsApi;
}

function createReadVerbs(deps: ItemsEngineDeps, reads: ListenerFreeReads, rights: PackageItemRights): ItemsApiReads {
  /**
   * Asserts that the package and its caller may read what the query names. Returns the caller and the bounded query.
   */
  async function prepareRead(invocation: ConfinedCodeInvocation, name: string, raw: unknown) {
    rights.assertGranted(name, 'read');
    const query = parseBoundedQuery(raw, deps.query.ceilings.max);
    const caller = rights.callerOf(invocation);
    await assertQueryReadable(deps, caller, name, query, rights.collections);
    return { caller, query };
  }

  return {
    readMany: (invocation, name, raw) =>
      runInInvocation(invocation, async () => {
        const { caller, query } = await prepareRead(invocation, name, raw);
        const rows = parseReply(await reads.readWithoutListeners(caller, name, query));
        // A singleton answers one object; the capability always answers a list.
        return (Array.isArray(rows) ? rows : [rows]) as Item[];
      }),
    readOne: (invocation, name, key, raw) =>
      runInInvocation(invocation, async () => {
        const itemKey = requireTextOrNumberKey(key);
        const { caller, query } = await prepareRead(invocation, name, raw);
        const found = await reads.readWithoutListeners(caller, name, query, itemKey).catch(nullIfForbidden);
        return found && (parseReply(found) as Item);
      }),
  };
}

function createWriteVerbs(
  deps: ItemsEngineDeps,
  { assertGranted, writingCallerOf }: PackageItemRights,
): Omit<ItemsApi, keyof ItemsApiReads> {
  const writes = createItemWrites({
    ...deps,
    maxMutations: Math.min(CONFINED_WRITE_BOUNDS.mutations, deps.maxMutations),
    // The guard also checks nested rows: an admin that calls a package does not lend it the right to create admins.
    guard: assertGranted,
  });

  return {
    async createOne(invocation, name, payload) {
      assertGranted(name, 'create');
      const row = requireBoundedPayload(payload);
      return writes.createOne(writingCallerOf(invocation), name, row);
    },
    async createMany(invocation, name, payloads) {
      assertGranted(name, 'create');
      const rows = requireBoundedPayloads(payloads);
      return writes.createMany(writingCallerOf(invocation), name, rows);
    },
    async updateOne(invocation, name, key, payload) {
      assertGranted(name, 'update');
      const [itemKey, change] = [requireTextOrNumberKey(key), requireBoundedPayload(payload)];
      return writes.updateOne(writingCallerOf(invocation), name, itemKey, change);
    },
    async updateMany(invocation, name, keys, payload) {
      assertGranted(name, 'update');
      const [keyList, change] = [requireBoundedDistinctKeys(keys), requireBoundedPayload(payload)];
      return writes.updateMany(writingCallerOf(invocation), name, keyList, change);
    },
    async deleteOne(invocation, name, key) {
      assertGranted(name, 'delete');
      const itemKey = requireTextOrNumberKey(key);
      return (await writes.deleteMany(writingCallerOf(invocation), name, [itemKey]))[0] ?? null;
    },
    async deleteMany(invocation, name, keys) {
      assertGranted(name, 'delete');
      const keyList = requireBoundedDistinctKeys(keys);
      return writes.deleteMany(writingCallerOf(invocation), name, keyList);
    },
  };
}

type Item = Record<string, unknown>;

/** Converts FORBIDDEN to null: a row is missing or may not be read. */
function nullIfForbidden(error: unknown): null {
  if (error instanceof Failure && error.code === 'FORBIDDEN') return null;
  throw error;
}

function parseReply({ data }: ReadResultText): unknown {
  if (Buffer.byteLength(data ?? '') > MAX_ITEMS_REPLY_BYTES)
    throw createInvalidRequestRefusal('The answer is too long.');
  return JSON.parse(data ?? 'null');
}
