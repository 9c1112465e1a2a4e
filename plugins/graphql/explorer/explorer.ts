import { fail, type Log } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import type { GraphqlScope } from '../contract.ts';
import { createExplorerFileRoute } from './assets.ts';
import { buildExplorerBundle, type ExplorerBundle } from './bundle.ts';
import { sendExplorerPage } from './page.ts';
import { readPrebuiltExplorerBundle } from './prebuilt-bundle.ts';

export interface ExplorerDeps {
  /** Whether introspection is on. Without it there is no page. */
  readonly introspection: boolean;
  readonly log: Log;
  readonly build?: () => Promise<ExplorerBundle>;
}

/** The GraphQL explorer: the page in which a person writes and runs documents beside the schema. */
export interface GraphqlExplorer {
  /** Whether the request is of a browser that prefers HTML. */
  acceptsPage(ctx: HttpContext): boolean;
  /** Sends the page, which fills in `?query=` and `?variables=` without running them. */
  sendPage(ctx: HttpContext, scope: GraphqlScope): Promise<void>;
  /** The files the page loads. */
  readonly routes: readonly Route[];
}

/** Media types to negotiate, JSON first: a client that accepts anything gets data. */
const MEDIA_TYPES = ['application/graphql-response+json', 'application/json', 'text/html'];

/**
 * The first request builds the page's files, which stay in memory; concurrent requests wait for the same build. A
 * failed build is logged, and the next request tries again.
 */
export function createGraphqlExplorer({
  introspection,
  log,
  build = async () => (await readPrebuiltExplorerBundle()) ?? (await buildExplorerBundle()),
}: ExplorerDeps): GraphqlExplorer {
  let bundle: Promise<ExplorerBundle> | undefined;

  async function startBuild(): Promise<ExplorerBundle> {
    const started = performance.now();
    try {
      const built = await build();
      log.info({ ms: Math.round(performance.now() - started) }, 'the files of the GraphQL explorer are ready');
      return built;
    } catch (error) {
      bundle = undefined;
      log.error({ err: error }, 'the GraphQL explorer cannot be built');
      throw fail(
        'SERVICE_UNAVAILABLE',
        'The explorer cannot be built; the log has the reason. Send documents by POST.',
      );
    }
  }

  const loadBundle = (): Promise<ExplorerBundle> => {
    bundle ??= startBuild();
    return bundle;
  };

  return {
    acceptsPage: (ctx) =>
      introspection && (ctx.method === 'GET' || ctx.method === 'HEAD') && ctx.accepts(MEDIA_TYPES) === 'text/html',
    sendPage: async (ctx, scope) => sendExplorerPage(ctx, scope, await loadBundle()),
    routes: introspection ? [createExplorerFileRoute(loadBundle)] : [],
  };
}
