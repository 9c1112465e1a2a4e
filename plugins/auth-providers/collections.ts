import type { SystemCollection } from '../schema/contract.ts';

/** What a provider or a browser may present once: states of sign-ins, ids of assertions. Rows are deleted after their expiry. */
export const usedSignInsCollection: SystemCollection = {
  collection: 'platform_used_sign_ins',
  note: 'What may be used once to sign in, and was',
  internal: true,
  fields: [
    // A hash of provider and id.
    { field: 'id', type: 'string', maxLength: 64, primary: true },
    { field: 'expires', type: 'timestamp' },
  ],
};
