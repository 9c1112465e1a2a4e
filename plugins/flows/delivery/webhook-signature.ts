import { createHmac } from 'node:crypto';
import { fail } from '#kernel';
import type { RequestMessage } from '../operations/request-options.ts';

/** How many bytes the key of a secret has (Standard Webhooks). */
const MIN_KEY = 24;
const MAX_KEY = 64;

/**
 * The key of a secret of Standard Webhooks: base64, with `whsec_` before it.
 * @throws INVALID_PAYLOAD
 */
export function parseSigningKey(secret: unknown): Buffer {
  const [, text = ''] = /^(?:whsec_)?([A-Za-z0-9+/]+={0,2})$/.exec(String(secret)) ?? [];
  const key = Buffer.from(text, 'base64');
  if (key.length < MIN_KEY || key.length > MAX_KEY)
    throw fail('INVALID_PAYLOAD', `"secret" must be whsec_ and ${MIN_KEY} to ${MAX_KEY} bytes in base64`);
  return key;
}

/**
 * The headers by which a receiver verifies the message (Standard Webhooks); none without a secret.
 * @param id equal at each attempt; characters that are not allowed in a `webhook-id` are replaced
 */
export function signatureHeadersOf(
  { secret, body = '' }: Pick<RequestMessage, 'secret' | 'body'>,
  id: string,
): Readonly<Record<string, string>> {
  if (secret === undefined) return {};
  const messageId = id.replace(/[^A-Za-z0-9_-]/g, '_');
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', parseSigningKey(secret))
    .update(`${messageId}.${timestamp}.${body}`)
    .digest('base64');
  return { 'webhook-id': messageId, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
