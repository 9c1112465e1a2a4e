import { fail } from '#kernel';
import type { Route } from '../http/contract.ts';
import {
  anyOfSchema,
  bodyOf,
  createDisconnectSignalGetter,
  describeJsonBody,
  describeParameter,
  INTEGER_SCHEMA,
  objectSchema,
  TEXT_SCHEMA,
} from '../http/library.ts';
import type { ItemsEngine, Key } from '../items/contract.ts';
import { WRITE_ERROR_CODES } from '../items/library.ts';

const KEY = anyOfSchema(TEXT_SCHEMA, INTEGER_SCHEMA);

/** `POST /utils/sort/<collection>` (specification, "Utility endpoints"). */
export const sortRoute = (items: Pick<ItemsEngine, 'moveBefore'>): Route => ({
  method: 'POST',
  path: '/utils/sort/:collection',
  description: {
    summary: 'Moves an item immediately before another one in the manual order of its collection.',
    access: 'permissions',
    params: { collection: describeParameter('Name of a collection with a sort field.') },
    body: describeJsonBody(objectSchema({ item: KEY, to: KEY }, ['item', 'to'])),
    answers: { 200: {} },
    errors: [...WRITE_ERROR_CODES, 'ROUTE_NOT_FOUND'],
  },
  async handle(ctx) {
    const body = (bodyOf(ctx) ?? {}) as Readonly<Record<string, unknown>>;
    const [item, to] = [parseKey(body, 'item'), parseKey(body, 'to')];
    const { collection = '' } = ctx.params;
    await items.moveBefore(ctx.state.caller, collection, item, to, { signal: createDisconnectSignalGetter(ctx) });
    ctx.status = 200;
    ctx.body = '';
  },
});

function parseKey(body: Readonly<Record<string, unknown>>, name: 'item' | 'to'): Key {
  const key = body[name];
  if (typeof key === 'string' || typeof key === 'number') return key;
  throw fail('INVALID_PAYLOAD', `"${name}" must be the key of an item.`, { path: [name] });
}
