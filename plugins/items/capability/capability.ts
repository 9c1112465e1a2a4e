import type { Capability } from '#kernel';
import type { ConfinedCodeHostMethod, ConfinedCodeInvocation, RemoteCapabilityMethods } from '../../broker/contract.ts';
import { BrokerRefusal } from '../../broker/library.ts';
import type { ItemsApi } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import type { ReadVerbs } from '../read/read.ts';
import { createCallLimit } from './call-limit.ts';
import { describeItemsGrant, type ItemsGrant, itemsGrantSchema, widensItemsGrant } from './grant.ts';
import { createGrantBoundItemsApi, MAX_ITEMS_REPLY_BYTES } from './host-items-api.ts';

const NAME = { type: 'string', minLength: 1, maxLength: 255 } as const;
const KEY = { type: ['string', 'number'], maxLength: 255 } as const;
const QUERY = { type: ['object', 'null'] } as const;
const PAYLOAD = { type: 'object' } as const;
const LIST = { type: 'array' } as const;

/** One remote method: the JSON schema of its arguments after the collection, and their least number. */
function remoteMethod<Args extends unknown[]>(
  [min, ...args]: readonly [least: number, ...args: readonly object[]],
  run: (api: ItemsApi, invocation: ConfinedCodeInvocation, collection: string, ...args: Args) => Promise<unknown>,
): ConfinedCodeHostMethod<ItemsApi> {
  return {
    args: { type: 'array', minItems: min + 1, items: [NAME, ...args], additionalItems: false },
    maxReply: MAX_ITEMS_REPLY_BYTES,
    // Replaces control characters, which could split a line of the ledger in two.
    target: (collection: string) => collection.replace(/\p{C}+/gu, '?'),
    call(api, invocation, collection: string, ...rest: Args) {
      if (invocation.secrets.mentionedIn(JSON.stringify(rest)))
        throw new BrokerRefusal('denied', 'A secret cannot be part of an item.');
      return run(api, invocation, collection, ...rest);
    },
  };
}

type QueryArgument = Record<string, unknown> | null;
const readMany = remoteMethod([0, QUERY], (api, run, collection, query?: QueryArgument) =>
  api.readMany(run, collection, query),
);

const remoteMethods = {
  readMany,
  read: readMany,
  readOne: remoteMethod([1, KEY, QUERY], (api, run, collection, itemKey: unknown, query?: QueryArgument) =>
    api.readOne(run, collection, itemKey, query),
  ),
  createOne: remoteMethod([1, PAYLOAD], (api, run, collection, row: unknown) => api.createOne(run, collection, row)),
  createMany: remoteMethod([1, LIST], (api, run, collection, rows: unknown) => api.createMany(run, collection, rows)),
  updateOne: remoteMethod([2, KEY, PAYLOAD], (api, run, collection, itemKey: unknown, change: unknown) =>
    api.updateOne(run, collection, itemKey, change),
  ),
  updateMany: remoteMethod([2, LIST, PAYLOAD], (api, run, collection, keys: unknown, change: unknown) =>
    api.updateMany(run, collection, keys, change),
  ),
  deleteOne: remoteMethod([1, KEY], (api, run, collection, itemKey: unknown) =>
    api.deleteOne(run, collection, itemKey),
  ),
  deleteMany: remoteMethod([1, LIST], (api, run, collection, keys: unknown) => api.deleteMany(run, collection, keys)),
};

export const itemsRemoteMethods: RemoteCapabilityMethods = { capability: 'items', methods: remoteMethods };

/** `host.items` for code that is held to its grant; core plugins use the service `items`. */
export const itemsCapability = (
  deps: ItemsEngineDeps,
  reads: Pick<ReadVerbs, 'readWithoutListeners'>,
  runInPlace = createCallLimit(),
): Capability<ItemsGrant, ItemsApi> => ({
  name: 'items',
  member: 'items',
  schema: itemsGrantSchema,
  bind: (grant, subject) => createGrantBoundItemsApi(deps, reads, grant, subject, runInPlace),
  describe: describeItemsGrant,
  widens: widensItemsGrant,
});
