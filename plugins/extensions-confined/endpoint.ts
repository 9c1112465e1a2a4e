import { fail, requestScope } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { GuestFailure } from '../sandbox/library.ts';
import { checkAccess } from './access.ts';
import { sendAnswer } from './answer.ts';
import type { ConfinedDeps } from './deps.ts';
import type { AccessLevel } from './endpoint-capability.ts';
import { statedFailure } from './reject.ts';
import { inputOf } from './request.ts';
import { type Running, run, unavailable } from './running.ts';

/**
 * Answers requests by a confined handler. What its author refuses by `reject` is answered as he states it; what goes wrong
 * inside is `500` with one sentence for all of it, and `503` where there is no room or the program has been set aside.
 */
export function endpointHandler(
  level: AccessLevel,
  mount: string,
  running: () => Running,
  { routing }: Pick<ConfinedDeps, 'routing'>,
): (ctx: HttpContext) => Promise<void> {
  return async (ctx) => {
    const { caller } = ctx.state;
    checkAccess(level, caller);
    const input = await inputOf(ctx, mount, routing.readBody);
    const one = running();
    const signal = requestScope.getStore()?.signal;
    try {
      const { value } = await run(one, { activation: { type: 'json-endpoint' }, caller, input, signal });
      sendAnswer(ctx, value);
    } catch (error) {
      if (!(error instanceof GuestFailure)) throw error;
      const stated = statedFailure(error, one.failures);
      if (stated) throw stated;
      throw error.code === 'busy' || one.guest.state() === 'parked' ? unavailable('The endpoint') : failed();
    }
  };
}

const failed = () => fail('INTERNAL_SERVER_ERROR', 'An unexpected error occurred.');
