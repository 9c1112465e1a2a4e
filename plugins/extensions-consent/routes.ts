import { fail } from '#kernel';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, hasBodyMatchingRouteSchema, sendData } from '../http/library.ts';
import type { AdminPackageConsent } from './consent.ts';
import { CONSENT_AGREE_ROUTE_DESCRIPTION, WAITING_PACKAGES_ROUTE_DESCRIPTION } from './route-descriptions.ts';

/** `GET` and `POST /extensions/consent`, for admins: which packages wait for a decision, and the decision. */
export const createConsentRoutes = (consent: Pick<AdminPackageConsent, 'waiting' | 'agree'>): readonly Route[] => [
  {
    method: 'GET',
    path: '/extensions/consent',
    description: WAITING_PACKAGES_ROUTE_DESCRIPTION,
    handle(ctx) {
      assertAdmin(ctx);
      sendData(ctx, consent.waiting());
    },
  },
  {
    method: 'POST',
    path: '/extensions/consent',
    description: CONSENT_AGREE_ROUTE_DESCRIPTION,
    async handle(ctx) {
      assertAdmin(ctx);
      const { name, asks } = await parseDecision(bodyOf(ctx));
      sendData(ctx, await consent.agree(ctx.state.caller, name, asks));
    },
  },
];

function assertAdmin(ctx: HttpContext): void {
  if (!ctx.state.caller.admin) throw fail('FORBIDDEN', 'what extensions may do is for admins to decide');
}

/** Parses a body of exactly `{ name }`, or `{ name, asks }` with the sentences that the admin has read. */
async function parseDecision(body: unknown): Promise<{ readonly name: string; readonly asks?: unknown }> {
  if (await hasBodyMatchingRouteSchema(CONSENT_AGREE_ROUTE_DESCRIPTION, body))
    return body as { name: string; asks?: unknown };
  throw fail('INVALID_PAYLOAD', 'The body is { "name": the name of a package }, and "asks" as it was read.');
}
