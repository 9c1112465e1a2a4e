import { fail } from '#kernel';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, hasBodyMatchingRouteSchema, sendData } from '../http/library.ts';
import { adminsOnly } from './admins-only.ts';
import { ACTIVITY_COLLECTION, type DecisionRouteDeps, decisionRoutes } from './decision-routes.ts';
import type { ExtensionAppBundle } from './extension-types.ts';
import { isConfinedExtension } from './load/extension-load-state.ts';
import type { ExtensionManager } from './load/extension-manager.ts';
import { type ExtensionRow, toExtensionInfoRecord } from './records/info-record.ts';
import {
  EXTENSION_APP_CHUNK_ROUTE_DESCRIPTION,
  EXTENSION_AUDIT_ROUTE_DESCRIPTION,
  EXTENSION_LIST_ROUTE_DESCRIPTION,
  EXTENSION_RELOAD_ROUTE_DESCRIPTION,
  EXTENSION_RESTART_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';

interface RouteDeps extends DecisionRouteDeps {
  readonly runtime: ExtensionManager['runtime'];
  readonly appBundle: Pick<ExtensionAppBundle, 'chunk'>;
  /** The audit: what each package may do, and what it did in all processes. */
  readAudit(): Promise<unknown>;
  /** Milliseconds for which browsers may cache the browser code of extensions. */
  readonly cacheTtl: number | undefined;
}

/**
 * Routes of the list and of the browser code (specification, "Extension endpoints"); this service adds reload, restart
 * and audit.
 */
export function extensionRoutes(deps: RouteDeps): readonly Route[] {
  const { rows, runtime, activity } = deps;
  const list = () => rows().map(toExtensionInfoRecord);
  const send = (ctx: HttpContext, data: unknown = list()) => sendData(ctx, data, { confinedRuntime: runtime() });

  return [
    {
      method: 'GET',
      path: '/extensions',
      description: EXTENSION_LIST_ROUTE_DESCRIPTION,
      handle: adminsOnly((ctx) => send(ctx)),
    },
    {
      method: 'GET',
      path: '/extensions/audit',
      description: EXTENSION_AUDIT_ROUTE_DESCRIPTION,
      handle: adminsOnly(async (ctx) => sendData(ctx, await deps.readAudit())),
    },
    appChunkRoute(deps),
    ...decisionRoutes(deps),
    {
      method: 'POST',
      path: '/extensions/reload',
      description: EXTENSION_RELOAD_ROUTE_DESCRIPTION,
      handle: adminsOnly(async (ctx) => {
        const { caller } = ctx.state;
        await deps.reload(caller, []);
        await activity.record(caller, { action: 'reload', collection: ACTIVITY_COLLECTION, item: 'all' });
        send(ctx);
      }),
    },
    {
      method: 'POST',
      path: '/extensions/restart',
      description: EXTENSION_RESTART_ROUTE_DESCRIPTION,
      handle: adminsOnly(async (ctx) => {
        const { caller } = ctx.state;
        const name = await parseName(bodyOf(ctx));
        const findRows = () => rows().filter(({ extension }) => extension.name === name);
        assertRestartable(findRows(), name);
        await deps.reload(caller, [name]);
        await activity.record(caller, { action: 'restart', collection: ACTIVITY_COLLECTION, item: name.slice(0, 255) });
        send(ctx, findRows().map(toExtensionInfoRecord));
      }),
    },
  ];
}

/** Serves a part of the app bundle to browsers, which need no token for it. */
const appChunkRoute = ({ appBundle, cacheTtl }: Pick<RouteDeps, 'appBundle' | 'cacheTtl'>): Route => ({
  method: 'GET',
  path: '/extensions/sources/:chunk',
  description: EXTENSION_APP_CHUNK_ROUTE_DESCRIPTION,
  handle(ctx) {
    const text = appBundle.chunk(ctx.params.chunk as string);
    if (text === undefined) throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
    ctx.status = 200;
    ctx.set('Content-Type', 'application/javascript; charset=UTF-8');
    ctx.set('Cache-Control', cacheControl(cacheTtl));
    ctx.set('Vary', 'Origin, Cache-Control');
    ctx.body = text;
  },
});

const cacheControl = (ttl: number | undefined): string =>
  ttl === undefined ? 'no-cache' : `public, max-age=${Math.floor(ttl / 1000)}`;

async function parseName(body: unknown): Promise<string> {
  if (await hasBodyMatchingRouteSchema(EXTENSION_RESTART_ROUTE_DESCRIPTION, body))
    return (body as { name: string }).name;
  throw fail('INVALID_PAYLOAD', '"name" is required: the name of an extension.');
}

/** Code with full authority runs in this process and cannot be restarted; a reload loads what changed of it. */
function assertRestartable(rows: readonly ExtensionRow[], name: string): void {
  if (rows.length === 0) throw fail('INVALID_PAYLOAD', `There is no extension "${name}".`);
  const isFailed = rows.some(({ status }) => status === 'failed');
  if (!isFailed && !rows.some(({ extension }) => isConfinedExtension(extension)))
    throw fail('INVALID_PAYLOAD', `"${name}" is not confined: reload the extensions instead.`);
}
