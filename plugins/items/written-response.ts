import type { HttpContext } from '../http/contract.ts';
import { rawQueryOf, sendData, sendJson } from '../http/library.ts';
import type { RawQuery } from '../query/contract.ts';
import type { Items, Key, WrittenAnswer } from './contract.ts';

/** Only what shapes the answer: the conditions of a request's query are not about the rows just written. */
export const answerShapeOf = (ctx: HttpContext): RawQuery => {
  const { fields, deep, alias } = rawQueryOf(ctx);
  return { fields, deep, alias };
};

const ignoreForbidden = (error: unknown): void => {
  if ((error as { code?: string }).code !== 'FORBIDDEN') throw error;
};

/** What is wrong with the query is said before anything is written, not after. */
export async function checkShape(
  items: Pick<Items, 'checkQuery'>,
  ctx: HttpContext,
  collection: string,
): Promise<void> {
  const answerShape = answerShapeOf(ctx);
  if (Object.values(answerShape).every((one) => one === undefined)) return;
  await items.checkQuery(ctx.state.caller, collection, answerShape).catch(ignoreForbidden);
}

/** A row that its own statement answered, or what was written, read again under the caller's permissions; 204 where the caller may not see it. */
export async function sendWritten(
  items: Pick<Items, 'readOne' | 'readKeys'>,
  ctx: HttpContext,
  collection: string,
  keys: readonly Key[],
  isList: boolean,
  answer?: WrittenAnswer,
): Promise<void> {
  if (answer?.data !== undefined) return sendJson(ctx, answer.data);
  const { caller } = ctx.state;
  const answerShape = answer?.query ?? answerShapeOf(ctx);
  try {
    const { data, meta } = isList
      ? await items.readKeys(caller, collection, keys, answerShape)
      : await items.readOne(caller, collection, keys[0], answerShape);
    sendJson(ctx, data ?? 'null', meta ?? undefined);
  } catch (error) {
    ignoreForbidden(error);
    sendData(ctx, undefined);
  }
}
