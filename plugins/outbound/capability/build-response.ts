import type { InvocationSecretReferences } from '../../broker/contract.ts';
import { BrokerRefusal } from '../../broker/library.ts';
import type { ConfinedOutboundResponse, OutboundResponse } from '../contract.ts';
import { MAX_OUTBOUND_MESSAGE_BYTES } from './build-request.ts';

const TOO_LONG = 'The answer is too long.';
/** JSON nested more deeply stays a string. */
const MAX_DEPTH = 200;

/**
 * Builds the response for confined code, without the secrets of the request. A body is parsed where its content type
 * says JSON.
 */
export function buildResponseWithoutSecrets(
  { status, headers, body }: OutboundResponse,
  secrets: InvocationSecretReferences,
): ConfinedOutboundResponse {
  const clean = Object.entries(headers).map(([name, value]) => [secrets.scrub(name), secrets.scrub(value)]);
  const answer = {
    status,
    headers: Object.fromEntries(clean) as Record<string, string>,
    body: parseResponseBody(new TextDecoder().decode(body), headers['content-type'] ?? '', secrets),
  };
  if (Buffer.byteLength(JSON.stringify(answer)) > MAX_OUTBOUND_MESSAGE_BYTES)
    throw new BrokerRefusal('invalid_request', TOO_LONG);
  return answer;
}

function parseResponseBody(text: string, type: string, secrets: InvocationSecretReferences): unknown {
  if (/^\s*(?:application|text)\/(?:[\w.+-]{1,100}\+)?json\s*(?:;|$)/i.test(type) && !isDeeplyNested(text)) {
    try {
      // Scrubbed after parsing, since JSON may escape characters of a secret.
      return secrets.scrubValue(JSON.parse(text));
    } catch {
      // Invalid JSON stays a string.
    }
  }
  return secrets.scrub(text);
}

/**
 * Whether JSON is nested more deeply than MAX_DEPTH. Checked on the text, since a recursive walk through deeply nested
 * JSON would exhaust the stack.
 */
function isDeeplyNested(text: string): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isQuoted) {
      if (char === '\\') at++;
      else if (char === '"') isQuoted = false;
    } else if (char === '"') isQuoted = true;
    else if (char === '[' || char === '{') {
      if (++depth > MAX_DEPTH) return true;
    } else if (char === ']' || char === '}') depth--;
  }
  return false;
}
