import { fail } from '#kernel';
import { bodyOf, type HttpContext, type Route, sendData } from '../../http/contract.ts';
import type { Consent } from './consent.ts';

/** `GET` and `POST /extensions/consent`, for admins: which packages wait for a decision, and the decision. */
export const consentRoutes = (consent: Pick<Consent, 'waiting' | 'agree'>): readonly Route[] => [
  {
    method: 'GET',
    path: '/extensions/consent',
    handle(ctx) {
      adminsOnly(ctx);
      sendData(ctx, consent.waiting());
    },
  },
  {
    method: 'POST',
    path: '/extensions/consent',
    async handle(ctx) {
      adminsOnly(ctx);
      const { name, asks } = decisionIn(bodyOf(ctx));
      sendData(ctx, await consent.agree(ctx.state.caller, name, asks));
    },
  },
];

function adminsOnly(ctx: HttpContext): void {
  if (!ctx.state.caller.admin) throw fail('FORBIDDEN', 'what extensions may do is for admins to decide');
}

/** Exactly `{ name }`, or `{ name, asks }` with the sentences that were read. */
function decisionIn(body: unknown): { readonly name: string; readonly asks: unknown } {
  const { name, asks, ...others } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  if (typeof name === 'string' && name !== '' && Object.keys(others).length === 0) return { name, asks };
  throw fail('INVALID_PAYLOAD', 'The body is { "name": the name of a package }, and "asks" as it was read.');
}
