import { type HttpContext, rawQueryOf, sendData, sendJson } from '../../http/contract.ts';
import type { Items, Key } from '../../items/contract.ts';
import type { RawQuery } from '../../query/contract.ts';
import { FILES } from '../contract.ts';

/** Only what shapes the answer, as with other writes. */
const shapeOf = (ctx: HttpContext): RawQuery => {
  const { fields, deep, alias } = rawQueryOf(ctx);
  return { fields, deep, alias };
};

const isForbidden = (error: unknown): boolean => (error as { code?: string }).code === 'FORBIDDEN';

/** What is wrong with the query is said before bytes are taken, not after. */
export async function checkShape(items: Pick<Items, 'checkQuery'>, ctx: HttpContext): Promise<void> {
  const shape = shapeOf(ctx);
  if (Object.values(shape).every((one) => one === undefined)) return;
  try {
    await items.checkQuery(ctx.state.caller, FILES, shape);
  } catch (error) {
    if (!isForbidden(error)) throw error;
  }
}

/** One file as a record, several as a list, read again under the caller's permissions; 204 where the caller may not see them. */
export async function sendFiles(
  items: Pick<Items, 'readOne' | 'readKeys'>,
  ctx: HttpContext,
  keys: readonly Key[],
): Promise<void> {
  const { caller } = ctx.state;
  const shape = shapeOf(ctx);
  try {
    const { data } =
      keys.length === 1
        ? await items.readOne(caller, FILES, keys[0], shape)
        : await items.readKeys(caller, FILES, keys, shape);
    sendJson(ctx, data ?? 'null');
  } catch (error) {
    if (!isForbidden(error)) throw error;
    sendData(ctx, undefined);
  }
}
