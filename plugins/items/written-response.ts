import type { HttpContext } from '../http/contract.ts';
import { parsedQueryStringOf, sendData, sendJsonTextInEnvelope } from '../http/library.ts';
import type { RawQuery } from '../query/contract.ts';
import type { ItemsEngine, Key, WrittenRowsAnswerSlot } from './contract.ts';

/** Only parameters that shape the answer: the conditions of a request's query do not apply to the rows just written. */
export const answerShapeParametersOf = (ctx: HttpContext): RawQuery => {
  const { fields, deep, alias } = parsedQueryStringOf(ctx);
  return { fields, deep, alias };
};

const ignoreForbidden = (error: unknown): void => {
  if ((error as { code?: string }).code !== 'FORBIDDEN') throw error;
};

/** Validates the query parameters that shape the answer, before anything is written. */
export async function assertAnswerShapeParameters(
  items: Pick<ItemsEngine, 'checkQuery'>,
  ctx: HttpContext,
  collection: string,
): Promise<void> {
  const answerShape = answerShapeParametersOf(ctx);
  if (Object.values(answerShape).every((one) => one === undefined)) return;
  await items.checkQuery(ctx.state.caller, collection, answerShape).catch(ignoreForbidden);
}

/**
 * Sends the row that the statement itself answered, or reads the rows again with the caller's permissions; 204 where
 * the caller may not read them.
 */
export async function sendWrittenRows(
  items: Pick<ItemsEngine, 'readOne' | 'readKeys'>,
  ctx: HttpContext,
  collection: string,
  keys: readonly Key[],
  isList: boolean,
  answer?: WrittenRowsAnswerSlot,
): Promise<void> {
  if (answer?.data !== undefined) return sendJsonTextInEnvelope(ctx, answer.data);
  const { caller } = ctx.state;
  const answerShape = answer?.query ?? answerShapeParametersOf(ctx);
  try {
    const { data, meta } = isList
      ? await items.readKeys(caller, collection, keys, answerShape)
      : await items.readOne(caller, collection, keys[0], answerShape);
    sendJsonTextInEnvelope(ctx, data ?? 'null', meta ?? undefined);
  } catch (error) {
    ignoreForbidden(error);
    sendData(ctx, undefined);
  }
}
