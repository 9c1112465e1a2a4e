import { authorities, type Capability, Failure, listsWiden } from '#kernel';
import type { ConfinedCodeHostMethod, ConfinedCodeInvocation, RemoteCapabilityMethods } from '../../broker/contract.ts';
import { BrokerRefusal } from '../../broker/library.ts';
import type { ConfinedOutboundRequest, OutboundRequestApi, OutboundService } from '../contract.ts';
import { DENIED_ADDRESS_REMEDY, OutboundFailure } from '../failure.ts';
import { createResponseBufferShareLookup, type ResponseBufferShare, waitForEventLoopTurn } from './buffer-share.ts';
import {
  addSecretHeader,
  assertNoSecretReference,
  buildOutboundRequestBody,
  MAX_OUTBOUND_MESSAGE_BYTES,
} from './build-request.ts';
import { buildResponseWithoutSecrets } from './build-response.ts';
import {
  type AllowedOriginsAndMethods,
  listGrantedOrigins,
  OUTBOUND_METHODS,
  type OutboundRequestGrant,
  outboundRequestGrantSchema,
  parseOutboundRequestGrant,
} from './grant.ts';

const TIMEOUT = { default: 10_000, most: 30_000 } as const;

const send: ConfinedCodeHostMethod<OutboundRequestApi> = {
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
  target({ url, method = 'GET' }: ConfinedOutboundRequest) {
    const known = OUTBOUND_METHODS.find((one) => one === method.toUpperCase());
    return `${known ?? 'another method'} ${URL.parse(url)?.origin ?? 'an invalid address'}`;
  },
  call: (api, invocation, options: ConfinedOutboundRequest) => api.send(options, invocation),
};

export const requestCapabilityRemoteMethods: RemoteCapabilityMethods = { capability: 'request', methods: { send } };

/** `host.request`: requests to granted origins, as far as the operator's deny list allows them. */
export const createRequestCapability = (
  outbound: Pick<OutboundService, 'send'>,
  shareOf = createResponseBufferShareLookup(),
): Capability<OutboundRequestGrant, OutboundRequestApi> => ({
  name: 'request',
  member: 'request',
  schema: outboundRequestGrantSchema,
  bind(grant, { name }) {
    const allowed = parseOutboundRequestGrant(grant);
    return {
      send: (options, invocation) =>
        sendGranted(
          allowed,
          { send: (request) => outbound.send({ ...request, owner: name }) },
          shareOf(name),
          options,
          invocation,
        ),
    };
  },
  describe: (grant) =>
    authorities('sends requests to', listGrantedOrigins(grant), (grant.methods ?? ['GET']).join(', ')),
  widens: (before, after) => listsWiden(before && toComparableGrant(before), toComparableGrant(after)),
});

/** The grant in a form in which equal grants in different spellings are equal. */
const toComparableGrant = (grant: OutboundRequestGrant): Record<string, unknown> => ({
  origins: listGrantedOrigins(grant),
  methods: grant.methods ?? ['GET'],
});

/** Checks in the order of the conventions ("request.send"), so that the first failing check decides the refusal. */
async function sendGranted(
  { origins, methods }: AllowedOriginsAndMethods,
  outbound: Pick<OutboundService, 'send'>,
  share: ResponseBufferShare,
  options: ConfinedOutboundRequest,
  invocation: ConfinedCodeInvocation,
) {
  assertNoSecretReference(options, invocation.secrets);
  const url = URL.parse(options.url);
  if (url?.username !== '' || url.password !== '')
    throw new BrokerRefusal('invalid_request', 'The address is not a URL that can be used.');
  if (!origins.has(url.origin)) throw new BrokerRefusal('denied', 'This origin is not granted.');
  const method = (options.method ?? 'GET').toUpperCase();
  if (!methods.has(method)) throw new BrokerRefusal('denied', 'This method is not granted.');
  const { headers, body } = buildOutboundRequestBody(options);
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
    await waitForEventLoopTurn();
    return buildResponseWithoutSecrets(response, invocation.secrets);
  } finally {
    release();
  }
}

/** Reveals no detail of the network except the codes of the conventions. */
function throwRefusal(error: unknown): never {
  if (error instanceof OutboundFailure && error.reason === 'denied')
    throw new BrokerRefusal('denied', `This address is not allowed. ${DENIED_ADDRESS_REMEDY}`);
  if (error instanceof OutboundFailure && error.reason === 'timeout')
    throw new BrokerRefusal('timeout', 'The request took too long.');
  if (error instanceof Failure && error.code === 'CONTENT_TOO_LARGE')
    throw new BrokerRefusal('invalid_request', 'The answer is too long.');
  if (error instanceof Failure && error.code === 'REQUESTS_EXCEEDED')
    throw new BrokerRefusal('rate_limited', 'Too much is being received at the same time.');
  throw new BrokerRefusal('internal', 'The request failed.');
}
