import { envelope, fail } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import { sendStream } from '../../http/library.ts';
import type { GraphqlScope } from '../contract.ts';
import { DocumentFailure } from '../document/failure.ts';
import type { Engine } from '../engine.ts';
import type { Answer } from '../execute/answer.ts';
import { GET, OTHER_METHODS, POST } from './descriptions.ts';
import { mediaTypeFor } from './media-type.ts';
import { requestOf } from './request.ts';

export interface GraphqlRoutesDeps {
  readonly engine: () => Promise<Engine>;
  /** The page for people, who come to the same address with a browser. */
  readonly explorer: {
    wants(ctx: HttpContext): boolean;
    page(ctx: HttpContext, scope: GraphqlScope): Promise<void>;
  };
}

const ALLOWED = ['GET', 'HEAD', 'POST'];
const PATHS: readonly (readonly [GraphqlScope, string])[] = [
  ['items', '/graphql'],
  ['system', '/graphql/system'],
];

/** `/graphql` and `/graphql/system`, as GraphQL over HTTP has it: queries by GET and POST, mutations by POST. */
export const graphqlRoutes = (deps: GraphqlRoutesDeps): readonly Route[] =>
  PATHS.flatMap(([scope, path]): readonly Route[] => [
    { method: 'GET', path, description: GET, handle: (ctx) => answerGet(deps, scope, ctx) },
    { method: 'POST', path, description: POST, handle: (ctx) => answer(deps, scope, ctx) },
    { method: '*', path, description: OTHER_METHODS, handle: refuseMethod },
  ]);

function refuseMethod(ctx: HttpContext): never {
  throw fail('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here.`, { allow: ALLOWED });
}

async function answerGet(deps: GraphqlRoutesDeps, scope: GraphqlScope, ctx: HttpContext): Promise<void> {
  // The same address has answers of several types, and others for everybody who asks.
  ctx.vary(['Accept', 'Authorization']);
  return deps.explorer.wants(ctx) ? deps.explorer.page(ctx, scope) : answer(deps, scope, ctx);
}

async function answer(deps: GraphqlRoutesDeps, scope: GraphqlScope, ctx: HttpContext): Promise<void> {
  const type = mediaTypeFor(ctx);
  const standing = ctx.response.get('Cache-Control');
  // Until it is known to be the answer of a query by GET. Failures are sent by the kernel, with these headers.
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Content-Type', type);
  try {
    const answered = await (await deps.engine()).run(scope, requestOf(ctx), ctx);
    // `no-cache`: it may be kept, but has to be asked for each time, since rows and permissions change unannounced. Where
    // the entity tag is the same nothing is sent. A stream has none, but its client may keep it as well.
    if (ctx.method !== 'POST' && isWhole(answered)) ctx.set('Cache-Control', standing);
    await send(ctx, answered, type);
  } catch (error) {
    if (!(error instanceof DocumentFailure)) throw error;
    refuse(ctx, error);
  }
}

const isWhole = (answered: Answer): boolean => answered.kind === 'parts' || !answered.failed;

async function send(ctx: HttpContext, answered: Answer, type: string): Promise<void> {
  if (answered.kind === 'parts') return sendStream(ctx, answered.parts, { type });
  ctx.status = 200;
  ctx.body = answered.text;
}

/** As the kernel would, with the place in the document where clients of GraphQL look for it. */
function refuse(ctx: HttpContext, failure: DocumentFailure): void {
  const { status, body } = envelope(failure, ctx.state.caller);
  const { locations } = failure;
  ctx.status = status;
  ctx.body = JSON.stringify({
    errors: body.errors.map(({ message, extensions }) => ({
      message,
      ...(locations ? { locations } : {}),
      extensions,
    })),
  });
}
