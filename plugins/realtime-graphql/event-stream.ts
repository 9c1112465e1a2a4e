import { randomInt } from 'node:crypto';
import { type Caller, errorEnvelope, requestScope } from '#kernel';
import type { GraphqlRequest, GraphqlResolverContext, GraphqlSubscription } from '../graphql/contract.ts';
import { createMutationMethodFailure, toGraphqlErrors } from '../graphql/library.ts';
import type { HttpContext } from '../http/contract.ts';
import type { Realtime, RealtimeClient } from '../realtime/contract.ts';
import { type OperationDeps, sinceOf } from './operation.ts';
import { ResponseQueue } from './response-queue.ts';
import { ResponseText } from './response-text.ts';
import { openSubscription } from './subscription.ts';

export interface EventStreamDeps extends OperationDeps {
  readonly realtime: Pick<Realtime, 'connect'>;
  /** Connections, those of sockets not included; undefined is no limit but that of all. */
  readonly connectionLimit: number | undefined;
  /** Functions that end the open streams, for the stop of the service. */
  readonly openStreams: Set<() => void>;
  /** Seconds between two comments that keep an idle connection open; false: none are sent. */
  readonly heartbeat: () => number | false;
}

/** Milliseconds after which browsers connect anew, drawn anew for each connection, so that not all come back at the same time. */
const RETRY_DELAY = { min: 1000, max: 5000 };

/** Answers an operation by the protocol GraphQL over server-sent events, in its mode of distinct connections. */
export async function openEventStream(
  deps: EventStreamDeps,
  request: GraphqlRequest,
  call: GraphqlResolverContext,
): Promise<AsyncIterableIterator<string>> {
  const { caller } = call;
  const responses = await startOperation(deps, request, call).catch((error: unknown) => {
    // An event source shows nothing of an error response, so the protocol has errors of documents as events.
    if (errorEnvelope(error, caller).status !== 400) throw error;
    return createSingleResponse(JSON.stringify({ errors: toGraphqlErrors(error, caller) }));
  });
  return renderEventStream(responses, { caller, heartbeat: deps.heartbeat() });
}

/** @throws document failures, METHOD_NOT_ALLOWED, and as `subscribe`. */
async function startOperation(
  deps: EventStreamDeps,
  request: GraphqlRequest,
  call: GraphqlResolverContext,
): Promise<ResponseQueue> {
  const prepared = await deps.operations.prepare(request, call);
  if (prepared.kind === 'subscription') return subscribe(deps, request, call, prepared.subscription);
  if (prepared.kind === 'mutation' && call.ctx.method !== 'POST') throw createMutationMethodFailure();
  if (prepared.kind === 'query') requestScope.getStore()?.markReadOnly?.();
  return createSingleResponse(await prepared.run());
}

/** @throws what `Realtime.connect` and `RealtimeClient.subscribe` throw. */
async function subscribe(
  { realtime, connectionLimit, checks, openStreams }: EventStreamDeps,
  { extensions }: GraphqlRequest,
  { caller: { ip = null, userAgent = null, origin = null }, ctx }: GraphqlResolverContext,
  subscription: GraphqlSubscription,
): Promise<ResponseQueue> {
  let queue: ResponseQueue | undefined;
  // Without the event `complete` the client connects anew, with new credentials.
  const interrupt = () => void queue?.return();
  const client: RealtimeClient = await realtime.connect({
    transport: 'graphql-sse',
    connectionLimit,
    client: { ip, userAgent, origin },
    token: tokenOf(ctx),
    isReady: () => queue?.isEmpty ?? true,
    onDrop: () => interrupt(),
  });
  try {
    // A browser that connects anew sends the last id.
    const since = ctx.get('Last-Event-ID') || sinceOf(extensions);
    queue = await openSubscription(client, subscription, {
      checks,
      since,
      showsPositions: 'since' in extensions,
      onBegin: (begun, position) => begun.push(new ResponseText('', { position })),
      onEmpty: () => client.resume(),
      onDone() {
        openStreams.delete(interrupt);
        client.close();
      },
    });
    client.onExpired(interrupt);
    openStreams.add(interrupt);
    return queue;
  } catch (error) {
    client.close();
    throw error;
  }
}

/** The token of a request, which was found valid before. */
function tokenOf({ req: { headers, url = '' } }: HttpContext): string | undefined {
  const [, token] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const at = url.indexOf('?');
  return token ?? ((at === -1 ? null : new URLSearchParams(url.slice(at)).get('access_token')) || undefined);
}

function createSingleResponse(text: string): ResponseQueue {
  const queue = new ResponseQueue({ onDone: () => {} });
  queue.push(new ResponseText(text));
  queue.end();
  return queue;
}

/** In the queue, a heartbeat. */
const HEARTBEAT = new ResponseText('');
const COMMENT = ':\n\n';
const COMPLETE = 'event: complete\ndata: \n\n';

interface RenderOptions {
  readonly caller: Caller;
  readonly heartbeat: number | false;
}

/** Renders responses as events. This is no generator, since `return` of a generator waits for the next response. */
function renderEventStream(
  responses: ResponseQueue,
  { caller, heartbeat }: RenderOptions,
): AsyncIterableIterator<string, undefined> {
  const beat = () => {
    if (responses.isEmpty) responses.push(HEARTBEAT);
  };
  const timer = heartbeat === false ? undefined : setInterval(beat, heartbeat * 1000);
  let isBegun = false;
  let isOver = false;
  const end = () => {
    clearInterval(timer);
    isOver = true;
  };

  async function nextText(): Promise<string | undefined> {
    try {
      const { done, value } = await responses.next();
      if (!done) return value === HEARTBEAT ? COMMENT : renderEvent(value);
      end();
      return responses.isReturned ? undefined : COMPLETE;
    } catch (error) {
      end();
      const text = JSON.stringify({ errors: toGraphqlErrors(error, caller) });
      return `${renderEvent(new ResponseText(text))}${COMPLETE}`;
    }
  }

  const events: AsyncIterableIterator<string, undefined> = {
    [Symbol.asyncIterator]: () => events,
    async next() {
      if (!isBegun) {
        isBegun = true;
        return { done: false, value: `retry: ${randomInt(RETRY_DELAY.min, RETRY_DELAY.max)}\n\n${COMMENT}` };
      }
      const text = isOver ? undefined : await nextText();
      return text === undefined ? { done: true, value: undefined } : { done: false, value: text };
    },
    async return() {
      end();
      await responses.return();
      return { done: true, value: undefined };
    },
  };
  return events;
}

/** Line breaks in JSON text are white space; in an event they end a line. */
const toLine = (json: string): string => (/[\n\r]/.test(json) ? json.replaceAll(/[\n\r]+/g, ' ') : json);

/** Without a text the event only tells the browser its position. */
const renderEvent = ({ text, position }: ResponseText): string => {
  const id = position === undefined ? '' : `id: ${position}\n`;
  return text === '' ? `${id}\n` : `${id}event: next\ndata: ${toLine(text)}\n\n`;
};
