import { setTimeout as wait } from 'node:timers/promises';
import { fail } from '#kernel';
import { CustomFailure } from '../../http/library.ts';
import type { FlowOperationKind } from '../contract.ts';
import { parseJsonOption } from './option-values.ts';

/** The longest `sleep`: a day, in milliseconds. */
const MAX_SLEEP = 86_400_000;

/** `transform`: the value of `json`, an object or JSON text. */
export const transformOperation: FlowOperationKind = {
  id: 'transform',
  trial: 'run',
  run: async ({ json }) => parseJsonOption(json, 'json') ?? null,
};

/** `sleep`: waits `milliseconds`. A service that stops ends the wait with a reject. */
export const createSleepOperation = (stopping: AbortSignal): FlowOperationKind => ({
  id: 'sleep',
  async run({ milliseconds }) {
    const time = Number(milliseconds);
    if (!Number.isFinite(time) || time < 0 || time > MAX_SLEEP)
      throw fail('INVALID_PAYLOAD', `"milliseconds" must be a number from 0 to ${MAX_SLEEP}`);
    await wait(time, undefined, { signal: stopping });
    return null;
  },
});

/** `throw-error`: rejects with an error of the flow's own. */
export const throwErrorOperation: FlowOperationKind = {
  id: 'throw-error',
  trial: 'run',
  async run({ code, status, message }) {
    const number = Number(status ?? 500);
    throw new CustomFailure('INTERNAL_SERVER_ERROR', {
      code: typeof code === 'string' && code !== '' ? code : 'INTERNAL_SERVER_ERROR',
      status: Number.isInteger(number) && number >= 400 && number <= 599 ? number : 500,
      message: typeof message === 'string' && message !== '' ? message : 'The flow failed.',
    });
  },
};
