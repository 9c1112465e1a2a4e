import type { Caller } from '#kernel';
import type { HttpContext, Route, RouteDescription } from '../http/contract.ts';
import {
  anyOfSchema,
  bodyOf,
  describeJsonBody,
  exactObjectSchema,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  sendData,
  TEXT_SCHEMA,
} from '../http/library.ts';

/** The requests of this plugin, as HTTP and GraphQL pass them on; `body` is what the client sent, unchecked. */
export interface InvitationRequests {
  invite(caller: Caller, body: unknown): Promise<void>;
  accept(ctx: HttpContext, body: unknown): Promise<void>;
}

const INVITE_DESCRIPTION: RouteDescription = {
  tag: 'users',
  access: 'permissions',
  summary:
    'Creates invited users with this role and mails a link to each; users who are not invited any more stay as they are.',
  body: describeJsonBody(
    exactObjectSchema(
      { email: anyOfSchema(TEXT_SCHEMA, listSchema(TEXT_SCHEMA)), role: TEXT_SCHEMA },
      { invite_url: TEXT_SCHEMA },
    ),
  ),
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
  errors: ['FAILED_VALIDATION', 'INVALID_CONFIG', 'INVALID_FOREIGN_KEY', 'RECORD_NOT_UNIQUE'],
};

const ACCEPT_DESCRIPTION: RouteDescription = {
  tag: 'users',
  access: 'public',
  summary: 'Makes an invited user active with this password, by the token of the link, once.',
  body: describeJsonBody(exactObjectSchema({ token: TEXT_SCHEMA, password: TEXT_SCHEMA })),
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
  errors: ['FAILED_VALIDATION'],
};

/** `/users/invite`. */
export const invitationRoutes = ({ invite, accept }: InvitationRequests): readonly Route[] => [
  {
    method: 'POST',
    path: '/users/invite',
    description: INVITE_DESCRIPTION,
    handle: async (ctx) => sendData(ctx, await invite(ctx.state.caller, bodyOf(ctx))),
  },
  {
    method: 'POST',
    path: '/users/invite/accept',
    description: ACCEPT_DESCRIPTION,
    handle: async (ctx) => sendData(ctx, await accept(ctx, bodyOf(ctx))),
  },
];
