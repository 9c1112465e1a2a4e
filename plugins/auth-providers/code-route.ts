import { fail } from '#kernel';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, sendData } from '../http/library.ts';
import { CODE_ROUTE_DESCRIPTION } from './route-descriptions.ts';
import type { SignInFlow } from './sign-in-flow.ts';

interface CodeBody {
  readonly otp: string;
  readonly ticket: string | undefined;
}

/** `POST /auth/login/<provider>/otp`: completes a sign-in that waits for a code of the second factor. */
export const codeRoute = (flow: Pick<SignInFlow, 'completeWithCode'>): Route => ({
  method: 'POST',
  path: '/auth/login/:provider/otp',
  description: CODE_ROUTE_DESCRIPTION,
  async handle(ctx) {
    ctx.set('Cache-Control', 'no-store');
    sendData(ctx, await flow.completeWithCode(ctx, ctx.params.provider as string, parseBody(ctx)));
  },
});

function parseBody(ctx: HttpContext): CodeBody {
  const body: unknown = bodyOf(ctx);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw fail('INVALID_PAYLOAD', 'the body must be an object');
  const { otp, ticket } = body as { readonly otp?: unknown; readonly ticket?: unknown };
  if (typeof otp !== 'string' || otp.trim() === '')
    throw fail('INVALID_PAYLOAD', '"otp" must be a text', { path: ['otp'] });
  if (ticket !== undefined && ticket !== null && typeof ticket !== 'string')
    throw fail('INVALID_PAYLOAD', '"ticket" must be a text', { path: ['ticket'] });
  return { otp, ticket: ticket ?? undefined };
}
