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
      sendData(ctx, await consent.agree(ctx.state.caller, nameIn(bodyOf(ctx))));
    },
  },
];

function adminsOnly(ctx: HttpContext): void {
  if (!ctx.state.caller.admin) throw fail('FORBIDDEN', 'what extensions may do is for admins to decide');
}

/** Exactly `{ name }`. */
function nameIn(body: unknown): string {
  const { name, ...others } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  if (typeof name === 'string' && name !== '' && Object.keys(others).length === 0) return name;
  throw fail('INVALID_PAYLOAD', 'The body is exactly { "name": the name of a package }.');
}
