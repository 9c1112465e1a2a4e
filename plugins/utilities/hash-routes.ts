import { fail } from '#kernel';
import type { Route } from '../http/contract.ts';
import {
  BOOLEAN_SCHEMA,
  bodyOf,
  describeDataAnswer,
  describeJsonBody,
  exactObjectSchema,
  parseTextFields,
  sendData,
  TEXT_SCHEMA,
} from '../http/library.ts';
import type { PasswordService } from '../passwords/contract.ts';

/** Characters of the longest text: what is hashed waits in memory for its turn. */
const MAX_TEXT = 10_000;
const MAX_HASH = 500;
const TEXT = { ...TEXT_SCHEMA, maxLength: MAX_TEXT };
const HASH = { ...TEXT_SCHEMA, maxLength: MAX_HASH };

/**
 * `/utils/hash/generate` and `/utils/hash/verify` (specification, "Utility endpoints"). They are public, so they wait in the queue that
 * is fair between the clients which sign in.
 */
export const hashRoutes = (passwords: Pick<PasswordService, 'accepts' | 'hash' | 'verify'>): readonly Route[] => [
  {
    method: 'POST',
    path: '/utils/hash/generate',
    description: {
      summary: 'Hashes a text by Argon2.',
      access: 'public',
      body: describeJsonBody(exactObjectSchema({ string: TEXT })),
      answers: describeDataAnswer(TEXT_SCHEMA),
    },
    async handle(ctx) {
      const { string } = parseTextFields(bodyOf(ctx), { required: { string: MAX_TEXT } });
      sendData(ctx, await passwords.hash(string, ctx.state.caller));
    },
  },
  {
    method: 'POST',
    path: '/utils/hash/verify',
    description: {
      summary: 'Says whether a hash is that of a text.',
      access: 'public',
      body: describeJsonBody(exactObjectSchema({ string: TEXT, hash: HASH })),
      answers: describeDataAnswer(BOOLEAN_SCHEMA),
    },
    async handle(ctx) {
      const { string, hash } = parseTextFields(bodyOf(ctx), { required: { string: MAX_TEXT, hash: MAX_HASH } });
      if (!passwords.accepts(hash))
        throw fail('INVALID_PAYLOAD', '"hash" is no Argon2 hash, or takes too much memory or time.', {
          path: ['hash'],
        });
      sendData(ctx, await passwords.verify(hash, string, ctx.state.caller));
    },
  },
];
