import { fail, type Log } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import type { GraphqlScope } from '../contract.ts';
import { assetRoute } from './assets.ts';
import { type Bundle, buildBundle } from './bundle.ts';
import { sendPage } from './page.ts';

export interface ExplorerDeps {
  /** Whether callers may ask for their schema. Without it there is nothing to explore, and no page. */
  readonly introspection: boolean;
  readonly log: Log;
  readonly build?: () => Promise<Bundle>;
}

/** The page in which a person writes documents and runs them, with the schema beside. */
export interface Explorer {
  /** Somebody with a browser stands before the address to which clients send documents. */
  acceptsPage(ctx: HttpContext): boolean;
  /** Sends the page; `?query=` and `?variables=` are filled in and not run. */
  sendPage(ctx: HttpContext, scope: GraphqlScope): Promise<void>;
  /** The files the page loads. */
  readonly routes: readonly Route[];
}

/** Names of what clients take, ours first: who takes anything is given data. */
const MEDIA_TYPES = ['application/graphql-response+json', 'application/json', 'text/html'];

/**
 * The page's files are made with the first request for one of them and kept in memory; requests that come meanwhile wait
 * for the same files. What fails is told and tried again with the next request.
 */
export function createExplorer({ introspection, log, build = buildBundle }: ExplorerDeps): Explorer {
  let bundle: Promise<Bundle> | undefined;

  async function startBuild(): Promise<Bundle> {
    const started = performance.now();
    try {
      const built = await build();
      log.info({ ms: Math.round(performance.now() - started) }, 'the GraphQL page was made');
      return built;
    } catch (error) {
      bundle = undefined;
      log.error({ err: error }, 'the GraphQL page cannot be made');
      throw fail('SERVICE_UNAVAILABLE', 'The page cannot be made; the log says why. Documents can be sent by POST.');
    }
  }

  const loadBundle = (): Promise<Bundle> => {
    bundle ??= startBuild();
    return bundle;
  };

  return {
    acceptsPage: (ctx) =>
      introspection && (ctx.method === 'GET' || ctx.method === 'HEAD') && ctx.accepts(MEDIA_TYPES) === 'text/html',
    sendPage: async (ctx, scope) => sendPage(ctx, scope, await loadBundle()),
    routes: introspection ? [assetRoute(loadBundle)] : [],
  };
}
