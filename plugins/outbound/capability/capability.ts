import { authorities, type Capability, Failure, listsWiden } from '#kernel';
import type { Invocation, RemoteCapabilityMethods, RemoteMethod } from '../../broker/contract.ts';
import { BrokerRefusal } from '../../broker/library.ts';
import type { Outbound, RequestApi, SendOptions } from '../contract.ts';
import { DENIED_REMEDY, OutboundFailure } from '../failure.ts';
import { type BufferShare, createBufferShares, nextTurn } from './buffer-share.ts';
import { addSecretHeader, assertNoSecretReference, buildBody, MAX_OUTBOUND_MESSAGE_BYTES } from './build-request.ts';
import { buildResponse } from './build-response.ts';
import {
  type AllowedRequests,
  listGrantedOrigins,
  OUTBOUND_METHODS,
  parseRequestGrant,
  type RequestGrant,
  requestGrantSchema,
} from './grant.ts';

const TIMEOUT = { default: 10_000, most: 30_000 } as const;

const send: RemoteMethod<RequestApi> = {
  args: {
    type: 'array',
    minItems: 1,
    maxItems: 1,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['url'],
      properties: {
        url: { type: 'string' },
        method: { type: 'string' },
        // Invalid headers are left out and not refused.
        headers: { type: 'object' },
        body: {},
        timeoutMs: { type: 'number', exclusiveMinimum: 0 },
        auth: {},
      },
    },
  },
  maxReply: MAX_OUTBOUND_MESSAGE_BYTES,
  target({ url, method = 'GET' }: SendOptions) {
    const known = OUTBOUND_METHODS.find((one) => one === method.toUpperCase());
    return `${known ?? 'another method'} ${URL.parse(url)?.origin ?? 'an invalid address'}`;
  },
  call: (api, invocation, options: SendOptions) => api.send(options, invocation),
};

export const requestRemoteMethods: RemoteCapabilityMethods = { capability: 'request', methods: { send } };

/** `host.request`: requests to granted origins, as far as the operator's deny list allows them. */
export const requestCapability = (
  outbound: Pick<Outbound, 'send'>,
  shareOf = createBufferShares(),
): Capability<RequestGrant, RequestApi> => ({
  name: 'request',
  member: 'request',
  schema: requestGrantSchema,
  bind(grant, { name }) {
    const allowed = parseRequestGrant(grant);
    return { send: (options, invocation) => sendGranted(allowed, outbound, shareOf(name), options, invocation) };
  },
  describe: (grant) =>
    authorities('sends requests to', listGrantedOrigins(grant), (grant.methods ?? ['GET']).join(', ')),
  widens: (before, after) => listsWiden(before && toComparableGrant(before), toComparableGrant(after)),
});

/** The grant in a form in which equal grants in different spellings are equal. */
const toComparableGrant = (grant: RequestGrant): Record<string, unknown> => ({
  origins: listGrantedOrigins(grant),
  methods: grant.methods ?? ['GET'],
});

/** Checks in the order of the conventions ("request.send"), so that the first failing check decides the refusal. */
async function sendGranted(
  { origins, methods }: AllowedRequests,
  outbound: Pick<Outbound, 'send'>,
  share: BufferShare,
  options: SendOptions,
  invocation: Invocation,
) {
  assertNoSecretReference(options, invocation.secrets);
  const url = URL.parse(options.url);
  if (url?.username !== '' || url.password !== '')
    throw new BrokerRefusal('invalid_request', 'The address is not a URL that can be used.');
  if (!origins.has(url.origin)) throw new BrokerRefusal('denied', 'This origin is not granted.');
  const method = (options.method ?? 'GET').toUpperCase();
  if (!methods.has(method)) throw new BrokerRefusal('denied', 'This method is not granted.');
  const { headers, body } = buildBody(options);
  const { canBuffer, release } = share.open();
  const request = {
    method,
    url,
    headers: addSecretHeader(headers, options.auth, invocation),
    ...(body === undefined ? {} : { body }),
    signal: invocation.signal,
    timeout: Math.min(options.timeoutMs ?? TIMEOUT.default, TIMEOUT.most),
    maxBytes: MAX_OUTBOUND_MESSAGE_BYTES,
    canBuffer,
  };
  try {
    const response = await outbound.send(request).catch(throwRefusal);
    await nextTurn();
    return buildResponse(response, invocation.secrets);
  } finally {
    release();
  }
}

/** Reveals no detail of the network except the codes of the conventions. */
function throwRefusal(error: unknown): never {
  if (error instanceof OutboundFailure && error.reason === 'denied')
    throw new BrokerRefusal('denied', `This address is not allowed. ${DENIED_REMEDY}`);
  if (error instanceof OutboundFailure && error.reason === 'timeout')
    throw new BrokerRefusal('timeout', 'The request took too long.');
  if (error instanceof Failure && error.code === 'CONTENT_TOO_LARGE')
    throw new BrokerRefusal('invalid_request', 'The answer is too long.');
  if (error instanceof Failure && error.code === 'REQUESTS_EXCEEDED')
    throw new BrokerRefusal('rate_limited', 'Too much is being received at the same time.');
  throw new BrokerRefusal('internal', 'The request failed.');
}
