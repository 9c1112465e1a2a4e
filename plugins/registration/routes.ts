import type { HttpContext, Route, RouteDescription } from '../http/contract.ts';
import {
  bodyOf,
  describeJsonBody,
  describeRequiredParameter,
  exactObjectSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  parsedQueryStringOf,
  sendData,
  TEXT_SCHEMA,
} from '../http/library.ts';

/** The requests of this plugin, as HTTP and GraphQL pass them on; `body` is what the client sent, unchecked. */
export interface RegistrationRequests {
  register(ctx: HttpContext, body: unknown): Promise<void>;
  verify(body: unknown): Promise<void>;
}

interface Deps extends RegistrationRequests {
  /** Where a browser goes that has opened the link of a mail. */
  readonly signInPage: string;
}

const REGISTER_DESCRIPTION: RouteDescription = {
  tag: 'users',
  access: 'public',
  summary:
    'Registers a user, where the settings allow it; the answer is the same for an address that a user has already.',
  body: describeJsonBody(
    exactObjectSchema(
      { email: TEXT_SCHEMA, password: TEXT_SCHEMA },
      { first_name: TEXT_SCHEMA, last_name: TEXT_SCHEMA, verification_url: TEXT_SCHEMA },
    ),
  ),
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
  errors: ['FAILED_VALIDATION', 'FORBIDDEN', 'INVALID_CONFIG'],
};

const VERIFY_DESCRIPTION: RouteDescription = {
  tag: 'users',
  access: 'public',
  summary:
    'Confirms the e-mail address of a registered user, by the token of the link, and redirects to the sign-in page.',
  query: { token: describeRequiredParameter('Token of the link in the mail.') },
  answers: { 302: {} },
  errors: ['INVALID_PAYLOAD'],
};

/** `/users/register`. */
export const registrationRoutes = ({ register, verify, signInPage }: Deps): readonly Route[] => [
  {
    method: 'POST',
    path: '/users/register',
    description: REGISTER_DESCRIPTION,
    handle: async (ctx) => sendData(ctx, await register(ctx, bodyOf(ctx))),
  },
  {
    method: 'GET',
    path: '/users/register/verify-email',
    description: VERIFY_DESCRIPTION,
    async handle(ctx) {
      const { token } = parsedQueryStringOf(ctx) as Readonly<Record<string, unknown>>;
      await verify({ token });
      ctx.status = 302;
      ctx.set('Location', signInPage);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = '';
    },
  },
];
