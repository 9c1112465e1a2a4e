import type { Host } from '#kernel';
import { boot } from '#kernel/boot';
import { type Route, routes } from '../../../plugins/http/contract.ts';
import {
  bodyOf,
  clientInfoOf,
  parsedQueryStringOf,
  sendData,
  sendJsonTextInEnvelope,
} from '../../../plugins/http/library.ts';
import { TEST_ROUTE_DESCRIPTION } from '../../support/route-descriptions.ts';
import { createSender, type SendRequest } from '../../support/send.ts';
import { silentSettings, writeTestPluginPackages } from '../../support/test-plugins.ts';

export interface EchoServer {
  readonly url: string;
  readonly request: SendRequest;
  /** Parsed log lines so far. */
  readonly log: readonly Record<string, unknown>[];
  stop(): Promise<void>;
}

/** Starts the http plugin alone, with routes that echo the request. */
export async function startEchoServer(environment: Record<string, string> = {}): Promise<EchoServer> {
  const { composition, remove } = await writeTestPluginPackages([
    {
      name: 'echo',
      manifest: { contributes: { 'http.routes': { prefixes: ['/echo', '/fixed'] } } },
      register(host: Host) {
        for (const route of echoRoutes) host.contribute(routes, { ...route, description: TEST_ROUTE_DESCRIPTION });
      },
    },
  ]);
  const log: Record<string, unknown>[] = [];
  const plugins = [new URL('../../../plugins/http/', import.meta.url), ...composition.plugins];
  const kernel = await boot(
    { ...composition, plugins },
    {
      environment: { ...silentSettings, LOG_LEVEL: 'info', ...environment },
      log: (line) => void log.push(JSON.parse(line)),
    },
  );
  await kernel.migrate();
  await kernel.start();
  const { port } = await kernel.listen();
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    log,
    request: createSender(url),
    async stop() {
      await kernel.stop();
      await remove();
    },
  };
}

const body: Route['handle'] = (ctx) => sendData(ctx, { body: bodyOf(ctx) ?? null });
const echoRoutes: readonly Omit<Route, 'description'>[] = [
  ...(['POST', 'PATCH', 'DELETE', 'SEARCH'] as const).map((method) => ({ method, path: '/echo/body', handle: body })),
  { method: 'GET', path: '/echo/query', handle: (ctx) => sendData(ctx, parsedQueryStringOf(ctx)) },
  { method: 'GET', path: '/echo/client', handle: (ctx) => sendData(ctx, clientInfoOf(ctx)) },
  { method: 'GET', path: '/echo/items/:id', handle: (ctx) => sendData(ctx, { route: 'one', ...ctx.params }) },
  { method: 'GET', path: '/echo/items/me', handle: (ctx) => sendData(ctx, { route: 'me' }) },
  { method: 'GET', path: '/echo/nothing', handle: (ctx) => sendData(ctx, undefined) },
  { method: 'GET', path: '/fixed', handle: (ctx) => sendJsonTextInEnvelope(ctx, '[1]', '{"total_count":1}') },
];
