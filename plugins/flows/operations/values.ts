import { fail } from '#kernel';
import { CustomFailure } from '../../http/library.ts';
import type { FlowOperationKind } from '../contract.ts';
import type { StepContext } from '../run/step-context.ts';
import { parseJsonOption } from './option-values.ts';

/** The longest `sleep`: thirty days, in milliseconds. */
const MAX_SLEEP = 2_592_000_000;

/** `transform`: the value of `json`, an object or JSON text. */
export const transformOperation: FlowOperationKind = {
  id: 'transform',
  trial: 'run',
  run: async ({ json }) => parseJsonOption(json, 'json') ?? null,
};

/** `sleep`: waits `milliseconds`. A run in the background goes on after more than a second in any process. */
export const sleepOperation: FlowOperationKind = {
  id: 'sleep',
  async run({ milliseconds }, context: StepContext) {
    const time = Number(milliseconds);
    if (!Number.isFinite(time) || time < 0 || time > MAX_SLEEP)
      throw fail('INVALID_PAYLOAD', `"milliseconds" must be a number from 0 to ${MAX_SLEEP}`);
    await context.wait(time);
    return null;
  },
};

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
