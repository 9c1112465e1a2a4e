import { fail, requestScope } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { GuestFailure } from '../sandbox/library.ts';
import { toAuthorRejectionOrRecord } from './author-rejection.ts';
import { assertEndpointAccess } from './endpoint-access.ts';
import type { EndpointAccessLevel } from './endpoint-capability.ts';
import { renderEndpointInput } from './endpoint-input.ts';
import { sendHandlerResult } from './endpoint-result.ts';
import { createExchangeValidator } from './exchange-validator.ts';
import type { ConfinedContribution } from './gate/contributions.ts';
import type { ConfinedDeps } from './injected-services.ts';
import { createUnavailable, type LoadedContribution, runConfinedHandler } from './run-handler.ts';

/** What the manifest declares of an endpoint. */
export interface EndpointDeclaration extends Pick<ConfinedContribution, 'input' | 'output'> {
  readonly level: EndpointAccessLevel;
}

/**
 * Creates the route handler of a confined endpoint. A `reject` of the author is answered with its status, code and message; any
 * other failure is `500` with a fixed sentence, or `503` if no process is free or the program is parked.
 */
export function createEndpointHandler(
  { level, input: inputSchema, output: outputSchema }: EndpointDeclaration,
  mount: string,
  running: () => LoadedContribution,
  { routing }: Pick<ConfinedDeps, 'routing'>,
): (ctx: HttpContext) => Promise<void> {
  const validateInput = inputSchema && createExchangeValidator(inputSchema);
  const validateOutput = outputSchema && createExchangeValidator(outputSchema);
  return async (ctx) => {
    const { caller } = ctx.state;
    assertEndpointAccess(level, caller);
    const input = await renderEndpointInput(ctx, mount, routing.readBody, validateInput);
    const one = running();
    const signal = requestScope.getStore()?.signal;
    try {
      const { value } = await runConfinedHandler(one, { activation: { type: 'json-endpoint' }, caller, input, signal });
      sendHandlerResult(ctx, value, validateOutput);
    } catch (error) {
      if (!(error instanceof GuestFailure)) throw error;
      const stated = toAuthorRejectionOrRecord(error, one.failures);
      if (stated) throw stated;
      throw error.code === 'busy' || one.guest.state() === 'parked'
        ? createUnavailable('The endpoint')
        : createInternalError();
    }
  };
}

const createInternalError = () => fail('INTERNAL_SERVER_ERROR', 'An unexpected error occurred.');
