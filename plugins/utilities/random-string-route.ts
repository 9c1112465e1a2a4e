import { randomBytes } from 'node:crypto';
import { fail } from '#kernel';
import type { Route } from '../http/contract.ts';
import {
  describeDataAnswer,
  describeParameter,
  INTEGER_SCHEMA,
  parsedQueryStringOf,
  sendData,
  TEXT_SCHEMA,
} from '../http/library.ts';

const DEFAULT_LENGTH = 32;
const MAX_LENGTH = 500;

/** `GET /utils/random/string`: characters of the URL-safe base64 alphabet (specification, "Utility endpoints"). */
export const randomStringRoute: Route = {
  method: 'GET',
  path: '/utils/random/string',
  description: {
    summary: 'Answers a random text of letters, digits, "-" and "_", six bits a character.',
    access: 'public',
    query: {
      length: describeParameter(`Number of characters; default ${DEFAULT_LENGTH}.`, {
        ...INTEGER_SCHEMA,
        minimum: 1,
        maximum: MAX_LENGTH,
      }),
    },
    answers: describeDataAnswer(TEXT_SCHEMA),
  },
  handle(ctx) {
    const length = parseLength(parsedQueryStringOf(ctx).length);
    ctx.set('Cache-Control', 'no-store');
    sendData(ctx, randomBytes(length).toString('base64url').slice(0, length));
  },
};

function parseLength(value: unknown): number {
  if (value === undefined) return DEFAULT_LENGTH;
  const length = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (length < 1 || length > MAX_LENGTH)
    throw fail('INVALID_QUERY', `"length" must be a whole number from 1 to ${MAX_LENGTH}.`, { path: ['length'] });
  return length;
}
