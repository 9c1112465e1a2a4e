import { Failure, type Subject } from '#kernel';
import type { Invocation } from '../../broker/contract.ts';
import type { ReadText } from '../../query/contract.ts';
import type { ItemsApi } from '../contract.ts';
import type { Deps } from '../deps.ts';
import type { Reads } from '../read/read.ts';
import { createWrites } from '../write/write.ts';
import type { ItemsGrant } from './grant.ts';
import { checkedKey, checkedKeys, checkedPayload, checkedPayloads, MAX } from './payload.ts';
import type { RunInPlace } from './places.ts';
import { checkedQuery } from './query.ts';
import { demandReadable } from './readable.ts';
import { createRights, type ItemRights } from './rights.ts';
import { ofRun } from './run.ts';
import { invalid } from './shape.ts';

/** Bytes of an answer as JSON. */
export const MAX_REPLY = 2 * 1024 * 1024;

type QuietReads = Pick<Reads, 'quiet'>;
type ReadVerbs = Pick<ItemsApi, 'readMany' | 'readOne'>;

/** The verbs of one package, held to its grant and to the bounds of confined code (conventions, "items"). */
export function createItemsApi(
  deps: Deps,
  reads: QuietReads,
  grant: ItemsGrant,
  subject: Subject,
  runInPlace: RunInPlace,
): ItemsApi {
  const rights = createRights(grant, subject);
  const api: ItemsApi = { ...readVerbs(deps, reads, rights), ...writeVerbs(deps, rights) };
  /** Inside of a unit of work there is one connection, so a call that waited for a turn might wait in vain. */
  const inTurn =
    <Args extends unknown[], T>(run: (invocation: Invocation, ...args: Args) => Promise<T>) =>
    (invocation: Invocation, ...args: Args): Promise<T> => {
      const work = () => run(invocation, ...args);
      return deps.db.isInside() ? work() : runInPlace(subject.name, invocation.signal, work);
    };
  return Object.fromEntries(Object.entries(api).map(([name, run]) => [name, inTurn(run)])) as unknown as ItemsApi;
}

function readVerbs(deps: Deps, reads: QuietReads, rights: ItemRights): ReadVerbs {
  /** Who reads, and what, once it is certain that it may be asked. */
  async function asking(invocation: Invocation, name: string, raw: unknown) {
    rights.demand(name, 'read');
    const query = checkedQuery(raw, deps.query.ceilings.max);
    const caller = rights.callerOf(invocation);
    await demandReadable(deps, caller, name, query, rights.collections);
    return { caller, query };
  }

  return {
    readMany: (invocation, name, raw) =>
      ofRun(invocation, async () => {
        const { caller, query } = await asking(invocation, name, raw);
        const rows = parsed(await reads.quiet(caller, name, query));
        // The one row of a singleton is a list of one.
        return (Array.isArray(rows) ? rows : [rows]) as Item[];
      }),
    readOne: (invocation, name, key, raw) =>
      ofRun(invocation, async () => {
        const own = checkedKey(key);
        const { caller, query } = await asking(invocation, name, raw);
        const found = await reads.quiet(caller, name, query, own).catch(nothing);
        return found && (parsed(found) as Item);
      }),
  };
}

function writeVerbs(deps: Deps, { demand, writerOf }: ItemRights): Omit<ItemsApi, keyof ReadVerbs> {
  const writes = createWrites({
    ...deps,
    maxMutations: Math.min(MAX.mutations, deps.maxMutations),
    // Rows that are written along as well: an admin who calls a package does not lend it the making of admins.
    guard: demand,
  });

  return {
    async createOne(invocation, name, payload) {
      demand(name, 'create');
      const row = checkedPayload(payload);
      return writes.createOne(writerOf(invocation), name, row);
    },
    async createMany(invocation, name, payloads) {
      demand(name, 'create');
      const rows = checkedPayloads(payloads);
      return writes.createMany(writerOf(invocation), name, rows);
    },
    async updateOne(invocation, name, key, payload) {
      demand(name, 'update');
      const [own, change] = [checkedKey(key), checkedPayload(payload)];
      return writes.updateOne(writerOf(invocation), name, own, change);
    },
    async updateMany(invocation, name, keys, payload) {
      demand(name, 'update');
      const [all, change] = [checkedKeys(keys), checkedPayload(payload)];
      return writes.updateMany(writerOf(invocation), name, all, change);
    },
    async deleteOne(invocation, name, key) {
      demand(name, 'delete');
      const own = checkedKey(key);
      return (await writes.deleteMany(writerOf(invocation), name, [own]))[0] ?? null;
    },
    async deleteMany(invocation, name, keys) {
      demand(name, 'delete');
      const all = checkedKeys(keys);
      return writes.deleteMany(writerOf(invocation), name, all);
    },
  };
}

type Item = Record<string, unknown>;

/** A row that is not there, and one that may not be read. */
function nothing(error: unknown): null {
  if (error instanceof Failure && error.code === 'FORBIDDEN') return null;
  throw error;
}

function parsed({ data }: ReadText): unknown {
  if (Buffer.byteLength(data ?? '') > MAX_REPLY) throw invalid('The answer is too long.');
  return JSON.parse(data ?? 'null');
}
