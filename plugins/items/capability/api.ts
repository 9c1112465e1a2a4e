import { type Caller, Failure, fail, isSystem, type Subject } from '#kernel';
import type { Invocation } from '../../broker/contract.ts';
import { Refusal } from '../../broker/library.ts';
import type { ReadText } from '../../query/contract.ts';
import { SYSTEM_PREFIX } from '../../schema/contract.ts';
import type { ItemsApi } from '../contract.ts';
import type { Deps } from '../deps.ts';
import type { Reads } from '../read/read.ts';
import { createWrites } from '../write/write.ts';
import { grantOf, type ItemsGrant, VERBS, type Verb } from './grant.ts';
import { checkedKey, checkedKeys, checkedPayload, checkedPayloads, MAX } from './payload.ts';
import type { RunInPlace } from './places.ts';
import { checkedQuery } from './query.ts';
import { demandReadable } from './readable.ts';
import { ofRun } from './run.ts';
import { invalid } from './shape.ts';

/** Bytes of an answer as JSON. */
export const MAX_REPLY = 2 * 1024 * 1024;

/** The verbs of one package, held to its grant and to the bounds of confined code (conventions, "items"). */
export function createItemsApi(
  deps: Deps,
  reads: Pick<Reads, 'quiet'>,
  given: ItemsGrant,
  subject: Subject,
  runInPlace: RunInPlace,
): ItemsApi {
  const { accountability, collections, actions = VERBS } = grantOf(given);
  const within = collections && new Set(collections);
  const owner = `${subject.name}@${subject.version}`;
  const isFree = accountability === 'full-access';

  /** One answer for whatever is not granted and for what does not exist. */
  function demand(name: string, verb: Verb): void {
    if (!actions.includes(verb) || name.startsWith(SYSTEM_PREFIX) || (within && !within.has(name)))
      throw fail('FORBIDDEN', `${owner} may not ${verb} items of ${name}`);
  }

  const writes = createWrites({
    ...deps,
    maxMutations: Math.min(MAX.mutations, deps.maxMutations),
    // Rows that are written along as well: an admin who calls a package does not lend it the making of admins.
    guard: demand,
  });

  function callerOf({ caller }: Invocation): Caller {
    if (isFree) return subject.asSystem('confined code with full access');
    // What the service does of its own accord has no user, and must not lend its rights.
    if (caller === null || isSystem(caller) || caller.reason !== undefined || (caller.admin && caller.user === null))
      throw new Refusal('denied', 'There is no user to act for.');
    return caller;
  }

  /** History says that it was the package, also where it acts for a user. */
  function writerOf(invocation: Invocation): Caller {
    const caller = callerOf(invocation);
    return isFree ? caller : subject.actingFor(caller);
  }

  /** Who reads, and what, once it is certain that it may be asked. */
  async function asking(invocation: Invocation, name: string, raw: unknown) {
    demand(name, 'read');
    const query = checkedQuery(raw, deps.query.ceilings.max);
    const caller = callerOf(invocation);
    await demandReadable(deps, caller, name, query, within);
    return { caller, query };
  }

  const parsed = ({ data }: ReadText): unknown => {
    if (Buffer.byteLength(data ?? '') > MAX_REPLY) throw invalid('The answer is too long.');
    return JSON.parse(data ?? 'null');
  };

  const api: ItemsApi = {
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
  /** Inside of a unit of work there is one connection, which whoever waits for a turn might wait for in vain. */
  const inTurn =
    <Args extends unknown[], T>(run: (invocation: Invocation, ...args: Args) => Promise<T>) =>
    (invocation: Invocation, ...args: Args): Promise<T> => {
      const work = () => run(invocation, ...args);
      return deps.db.isInside() ? work() : runInPlace(subject.name, invocation.signal, work);
    };
  return Object.fromEntries(Object.entries(api).map(([name, run]) => [name, inTurn(run)])) as unknown as ItemsApi;
}

type Item = Record<string, unknown>;

/** A row that is not there, and one that may not be read. */
function nothing(error: unknown): null {
  if (error instanceof Failure && error.code === 'FORBIDDEN') return null;
  throw error;
}
