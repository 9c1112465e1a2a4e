import type { Route } from '../http/contract.ts';
import {
  createDisconnectSignalGetter,
  describeParameter,
  NO_CONTENT_ANSWER_DESCRIPTION,
  sendData,
} from '../http/library.ts';
import { WRITE_ERROR_CODES } from '../items/library.ts';
import type { RevertItem } from './revert.ts';

/** `POST /utils/revert/<revision>` (specification, "Utility endpoints"). */
export const revertRoute = (revert: RevertItem): Route => ({
  method: 'POST',
  path: '/utils/revert/:revision',
  description: {
    summary:
      'Gives an item the values of one of its revisions; the caller has to be able to read the revision and to update the item.',
    access: 'permissions',
    params: { revision: describeParameter('Id of the revision.') },
    answers: NO_CONTENT_ANSWER_DESCRIPTION,
    errors: [...WRITE_ERROR_CODES, 'ROUTE_NOT_FOUND'],
  },
  async handle(ctx) {
    await revert(ctx.state.caller, ctx.params.revision as string, { signal: createDisconnectSignalGetter(ctx) });
    sendData(ctx, undefined);
  },
});
