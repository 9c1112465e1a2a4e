import type { Capability } from '#kernel';
import type { Invocation, RemoteMethod, RemoteTable } from '../../broker/contract.ts';
import { Refusal } from '../../broker/library.ts';
import type { ItemsApi } from '../contract.ts';
import type { Deps } from '../deps.ts';
import type { Reads } from '../read/read.ts';
import { createItemsApi, MAX_REPLY } from './api.ts';
import { describeItems, type ItemsGrant, itemsGrantSchema, itemsWiden } from './grant.ts';
import { createPlaces } from './places.ts';

const name = { type: 'string', minLength: 1, maxLength: 255 } as const;
const key = { type: ['string', 'number'], maxLength: 255 } as const;
const query = { type: ['object', 'null'] } as const;
const payload = { type: 'object' } as const;
const list = { type: 'array' } as const;

/** One verb: the schema of its arguments after the collection, and how many of them there must be. */
function verb<Args extends unknown[]>(
  [least, ...args]: readonly [least: number, ...args: readonly object[]],
  run: (api: ItemsApi, invocation: Invocation, collection: string, ...args: Args) => Promise<unknown>,
): RemoteMethod<ItemsApi> {
  return {
    args: { type: 'array', minItems: least + 1, items: [name, ...args], additionalItems: false },
    maxReply: MAX_REPLY,
    // Without what would make two lines of one.
    target: (collection: string) => collection.replace(/\p{C}+/gu, '?'),
    call(api, invocation, collection: string, ...rest: Args) {
      if (invocation.secrets.mentionedIn(JSON.stringify(rest)))
        throw new Refusal('denied', 'A secret cannot be part of an item.');
      return run(api, invocation, collection, ...rest);
    },
  };
}

type Query = Record<string, unknown> | null;
const readMany = verb([0, query], (api, run, collection, asked?: Query) => api.readMany(run, collection, asked));

const remote = {
  readMany,
  read: readMany,
  readOne: verb([1, key, query], (api, run, collection, own: unknown, asked?: Query) =>
    api.readOne(run, collection, own, asked),
  ),
  createOne: verb([1, payload], (api, run, collection, row: unknown) => api.createOne(run, collection, row)),
  createMany: verb([1, list], (api, run, collection, rows: unknown) => api.createMany(run, collection, rows)),
  updateOne: verb([2, key, payload], (api, run, collection, own: unknown, change: unknown) =>
    api.updateOne(run, collection, own, change),
  ),
  updateMany: verb([2, list, payload], (api, run, collection, keys: unknown, change: unknown) =>
    api.updateMany(run, collection, keys, change),
  ),
  deleteOne: verb([1, key], (api, run, collection, own: unknown) => api.deleteOne(run, collection, own)),
  deleteMany: verb([1, list], (api, run, collection, keys: unknown) => api.deleteMany(run, collection, keys)),
};

export const itemsMethods: RemoteTable = { capability: 'items', methods: remote };

/** `host.items` for code that is held to its grant; plugins of the product use the service. */
export const itemsCapability = (
  deps: Deps,
  reads: Pick<Reads, 'quiet'>,
  runInPlace = createPlaces(),
): Capability<ItemsGrant, ItemsApi> => ({
  name: 'items',
  member: 'items',
  schema: itemsGrantSchema,
  bind: (grant, subject) => createItemsApi(deps, reads, grant, subject, runInPlace),
  describe: describeItems,
  widens: itemsWiden,
});
