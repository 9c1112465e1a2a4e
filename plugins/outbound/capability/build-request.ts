import type { ConfinedCodeInvocation, InvocationSecretReferences } from '../../broker/contract.ts';
import { BrokerRefusal } from '../../broker/library.ts';
import type { ConfinedOutboundRequest } from '../contract.ts';
import { isHeaderName, isHeaderValue, isReservedHeader, pickForwardableHeaders } from '../headers.ts';

/** Bytes of a request and of an answer, as JSON (conventions, "request.send"). */
export const MAX_OUTBOUND_MESSAGE_BYTES = 2 * 1024 * 1024;

type Headers = Record<string, string>;

/** Throws a Refusal where a secret reference, also of another invocation, is outside of `auth`. */
export function assertNoSecretReference(
  { url, headers, body }: ConfinedOutboundRequest,
  secrets: InvocationSecretReferences,
): void {
  const open = JSON.stringify([url, headers ?? null, body ?? null]);
  const text = typeof body === 'string' ? body : '';
  if (Buffer.byteLength(open) > MAX_OUTBOUND_MESSAGE_BYTES)
    throw new BrokerRefusal('invalid_request', 'The request is too long.');
  if (secrets.mentionedIn(open) || secrets.mentionedIn(text) || holdsReference(headers) || holdsReference(body))
    throw new BrokerRefusal('denied', 'A secret can be sent by "auth" only.');
}

/** Whether a value contains a secret reference. Iterative, since the sender chooses the depth. */
function holdsReference(value: unknown): boolean {
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== 'object' || one === null) continue;
    if ((one as { kind?: unknown }).kind === 'secret-reference') return true;
    for (const inner of Object.values(one)) open.push(inner);
  }
  return false;
}

/** Builds the body and its headers. A string is sent as it is, any other value as JSON. */
export function buildOutboundRequestBody(options: ConfinedOutboundRequest): {
  readonly headers: Headers;
  readonly body: string | undefined;
} {
  const headers = pickForwardableHeaders(options.headers ?? {});
  const { body } = options;
  if (body === undefined || body === null) return { headers, body: undefined };
  if (typeof body === 'string') return { headers, body };
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

/**
 * Adds the secret of `auth` to the headers. Throws `denied` where it is not a secret of this invocation or its header
 * is reserved or already set.
 */
export function addSecretHeader(
  headers: Headers,
  auth: unknown,
  { secrets }: Pick<ConfinedCodeInvocation, 'secrets'>,
): Headers {
  if (auth === undefined || auth === null) return headers;
  const [name, reference, prefix] = parseAuth(auth);
  if (!isHeaderName(name) || isReservedHeader(name) || Object.hasOwn(headers, name.toLowerCase()))
    throw new BrokerRefusal('denied', 'The secret cannot be sent in this header.');
  const value = secrets.reveal(reference);
  if (value === undefined) throw new BrokerRefusal('denied', 'This is not a secret of this run.');
  if (!isHeaderValue(value)) throw new BrokerRefusal('invalid_request', 'The secret does not fit into a header.');
  return { ...headers, [name.toLowerCase()]: prefix + value };
}

/** Parses `auth`: exactly `{ bearer }` or `{ header, secret }`. */
function parseAuth(auth: unknown): readonly [name: string, reference: unknown, prefix: string] {
  if (typeof auth === 'object') {
    const { bearer, header, secret, ...rest } = auth as Record<string, unknown>;
    const isBearer = bearer !== undefined && header === undefined && secret === undefined;
    const isHeader = bearer === undefined && typeof header === 'string' && secret !== undefined;
    if (Object.keys(rest).length === 0 && isBearer) return ['authorization', bearer, 'Bearer '];
    if (Object.keys(rest).length === 0 && isHeader) return [header, secret, ''];
  }
  throw new BrokerRefusal('invalid_request', '"auth" is either { bearer } or { header, secret }.');
}
