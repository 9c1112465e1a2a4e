import type { HttpContext, Route, RouteDescription } from '../http/contract.ts';
import { bodyOf, describeJsonBody, exactObjectSchema, TEXT_SCHEMA } from '../http/library.ts';

/** The requests of this plugin, as HTTP and GraphQL pass them on; `body` is what the client sent, unchecked. */
export interface PasswordResetRequests {
  /** Mails a link to a user with the address, if there is one. */
  request(ctx: HttpContext, body: unknown): Promise<void>;
  /** Sets a new password by the token of a link. */
  reset(ctx: HttpContext, body: unknown): Promise<void>;
}

const base = { tag: 'authentication', access: 'public', answers: { 200: {} } } as const;

const REQUEST_DESCRIPTION: RouteDescription = {
  ...base,
  summary:
    'Mails a link for a new password to the user with this e-mail address; the answer is the same where there is none.',
  body: describeJsonBody(exactObjectSchema({ email: TEXT_SCHEMA }, { reset_url: TEXT_SCHEMA })),
};

const RESET_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Sets a new password by the token of a link, once, and ends the sessions of the user.',
  body: describeJsonBody(exactObjectSchema({ token: TEXT_SCHEMA, password: TEXT_SCHEMA })),
  errors: ['FAILED_VALIDATION'],
};

/** `/auth/password` (specification, "Authentication endpoints"). */
export const passwordResetRoutes = ({ request, reset }: PasswordResetRequests): readonly Route[] => [
  {
    method: 'POST',
    path: '/auth/password/request',
    description: REQUEST_DESCRIPTION,
    async handle(ctx) {
      await request(ctx, bodyOf(ctx));
      sendEmptyAnswer(ctx);
    },
  },
  {
    method: 'POST',
    path: '/auth/password/reset',
    description: RESET_DESCRIPTION,
    async handle(ctx) {
      await reset(ctx, bodyOf(ctx));
      sendEmptyAnswer(ctx);
    },
  },
];

/** The specification wants 200 here, and an empty body. */
function sendEmptyAnswer(ctx: HttpContext): void {
  ctx.status = 200;
  ctx.body = '';
}
