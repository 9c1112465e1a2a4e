import { errorEnvelope, fail, requestScope } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import { createDisconnectSignalGetter, sendStream } from '../../http/library.ts';
import { currentAnswerSources } from '../../query/library.ts';
import type { GraphqlScope, SubscriptionSource } from '../contract.ts';
import { GraphqlDocumentFailure } from '../document/failure.ts';
import type { GraphqlEngine } from '../engine.ts';
import type { GraphqlResponse } from '../execute/operation-and-response-types.ts';
import { toGraphqlErrors } from '../library.ts';
import type { GraphqlCall } from './answer-request.ts';
import { graphqlMediaTypeFor } from './media-type.ts';
import { parseGraphqlRequest } from './request.ts';
import {
  GRAPHQL_405_ROUTE_DESCRIPTION,
  GRAPHQL_GET_ROUTE_DESCRIPTION,
  GRAPHQL_POST_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';

export interface GraphqlRoutesDeps {
  readonly engine: () => Promise<GraphqlEngine>;
  /** What answers event streams; undefined without subscriptions. */
  readonly subscriptions: () => SubscriptionSource | undefined;
  /** The page for browsers, at the same URLs. */
  readonly explorer: {
    acceptsPage(ctx: HttpContext): boolean;
    sendPage(ctx: HttpContext, scope: GraphqlScope): Promise<void>;
  };
}

const ALLOWED = ['GET', 'HEAD', 'POST'];
const PATHS: readonly (readonly [GraphqlScope, string])[] = [
  ['items', '/graphql'],
  ['system', '/graphql/system'],
];

/**
 * `/graphql` and `/graphql/system`, by the specification GraphQL over HTTP: queries by GET and POST, mutations by POST.
 */
export const graphqlRoutes = (deps: GraphqlRoutesDeps): readonly Route[] =>
  PATHS.flatMap(([scope, path]): readonly Route[] => [
    { method: 'GET', path, description: GRAPHQL_GET_ROUTE_DESCRIPTION, handle: (ctx) => answerGet(deps, scope, ctx) },
    {
      method: 'POST',
      path,
      description: GRAPHQL_POST_ROUTE_DESCRIPTION,
      handle: (ctx) => answerDocument(deps, scope, ctx),
    },
    { method: '*', path, description: GRAPHQL_405_ROUTE_DESCRIPTION, handle: refuseMethod },
  ]);

function refuseMethod(ctx: HttpContext): never {
  throw fail('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here.`, { allow: ALLOWED });
}

async function answerGet(deps: GraphqlRoutesDeps, scope: GraphqlScope, ctx: HttpContext): Promise<void> {
  // The response depends on the media type and on the caller.
  ctx.vary(['Accept', 'Authorization']);
  return deps.explorer.acceptsPage(ctx) ? deps.explorer.sendPage(ctx, scope) : answerDocument(deps, scope, ctx);
}

async function answerDocument(deps: GraphqlRoutesDeps, scope: GraphqlScope, ctx: HttpContext): Promise<void> {
  const eventStreams = scope === 'items' && acceptsEventStream(ctx) ? deps.subscriptions() : undefined;
  if (eventStreams) return sendEventStream(eventStreams, ctx);
  const type = graphqlMediaTypeFor(ctx);
  const cacheControl = ctx.response.get('Cache-Control');
  // Error responses, which the kernel sends with these headers, are not stored. The answer to a query by GET gets
  // another value below.
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Content-Type', type);
  try {
    const response = await (await deps.engine()).run(scope, parseGraphqlRequest(ctx), createCall(ctx));
    // `no-cache`: a client may keep the answer but revalidates it by its entity tag, since rows and permissions change
    // at any time. A stream has no entity tag, but its client may keep it as well.
    if (ctx.method !== 'POST' && isComplete(response)) ctx.set('Cache-Control', cacheControl);
    await send(ctx, response, type);
  } catch (error) {
    if (!(error instanceof GraphqlDocumentFailure)) throw error;
    sendFailure(ctx, error);
  }
}

const createCall = (ctx: HttpContext): GraphqlCall => ({
  caller: ctx.state.caller,
  ctx,
  signal: createDisconnectSignalGetter(ctx),
  allowsMutations: ctx.method === 'POST',
  // A query by POST is cancelled when its client disconnects, like one by GET.
  onQuery: () => requestScope.getStore()?.markReadOnly?.(),
});

async function sendEventStream(source: SubscriptionSource, ctx: HttpContext): Promise<void> {
  const events = await source.openEventStream(parseGraphqlRequest(ctx), createCall(ctx));
  ctx.set('Cache-Control', 'no-store');
  // Proxies would hold back events to fill a buffer.
  ctx.set('X-Accel-Buffering', 'no');
  await sendStream(ctx, events, { type: 'text/event-stream; charset=utf-8' });
}

/** Only a client that names the media type gets an event stream. */
const acceptsEventStream = ({ req }: HttpContext): boolean =>
  req.headers.accept?.includes('text/event-stream') ?? false;

const isComplete = (response: GraphqlResponse): boolean => response.kind === 'parts' || !response.failed;

async function send(ctx: HttpContext, response: GraphqlResponse, type: string): Promise<void> {
  if (response.kind === 'parts') return sendStream(ctx, response.parts, { type });
  ctx.status = 200;
  ctx.body = response.text;
  if (!response.failed) currentAnswerSources()?.markComplete();
}

/** Sends the error as the kernel would, with `locations` where GraphQL clients expect them. */
function sendFailure(ctx: HttpContext, failure: GraphqlDocumentFailure): void {
  ctx.status = errorEnvelope(failure, ctx.state.caller).status;
  ctx.body = JSON.stringify({ errors: toGraphqlErrors(failure, ctx.state.caller) });
}
