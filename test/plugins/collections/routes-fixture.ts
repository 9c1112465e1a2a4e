import { type Caller, type Host, middleware } from '#kernel';
import { boot } from '#kernel/boot';
import type { SchemaWrites } from '../../../plugins/schema/contract.ts';
import { schemaWrites } from '../../../plugins/schema/contract.ts';
import { createCaller, publicCaller } from '../../support/caller.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { createSender, type HttpReply } from '../../support/send.ts';
import { silentSettings, writeTestPluginPackages } from '../../support/test-plugins.ts';

export interface CollectionsRoutesFixture {
  readonly database: FreshDatabase;
  readonly writes: SchemaWrites;
  /** Sends a request as an admin. */
  admin(method: string, path: string, body?: unknown): Promise<HttpReply>;
  /** Sends a request as a user with this role, or without a user for null. */
  as(role: string | null, method: string, path: string, body?: unknown): Promise<HttpReply>;
}

const folders = ['database', 'cluster', 'http', 'schema', 'query', 'access', 'collections'].map(
  (name) => new URL(`../../../plugins/${name}/`, import.meta.url),
);

/** Serves the routes of the plugin `collections` over HTTP. The header `x-who` names the role of the caller. */
export async function withCollectionsRoutes<T>(
  sql: string,
  work: (served: CollectionsRoutesFixture) => Promise<T>,
): Promise<T> {
  const database = await freshDatabase('collections');
  let writes: SchemaWrites | undefined;
  const sketched = await writeTestPluginPackages([
    {
      name: 'who',
      manifest: {
        uses: { schemaWrites: '^1.0.0' },
        contributes: { 'http.middleware': { phases: ['identify'] } },
        capabilities: { identity: { evidence: ['user'] } },
      },
      register(host: Host) {
        writes = host.use({ schemaWrites }).schemaWrites;
        host.contribute(middleware, {
          name: 'who',
          phase: 'identify',
          handle(ctx, next) {
            host.identity.identify(ctx, callerIn(ctx.get('x-who')));
            return next();
          },
        });
      },
    },
  ]);
  const kernel = await boot(
    { plugins: [...folders, ...sketched.composition.plugins] },
    { environment: { ...silentSettings, DB_CONNECTION_STRING: database.url }, log: () => {} },
  );
  try {
    if (sql) await database.query(sql);
    await kernel.migrate();
    await kernel.start();
    const send = createSender(`http://127.0.0.1:${(await kernel.listen()).port}`);
    const ask = (who: string) => (method: string, path: string, body?: unknown) =>
      send(method, path, { body, headers: { 'x-who': who } });
    return await work({
      database,
      writes: writes as SchemaWrites,
      admin: ask('admin'),
      as: (role, ...rest) => ask(role ?? '')(...rest),
    });
  } finally {
    await kernel.stop();
    await sketched.remove();
    await database.drop();
  }
}

function callerIn(who: string): Caller {
  if (who === '') return publicCaller();
  const [role = null, app] = who.split('+');
  const admin = who === 'admin';
  const user = '11111111-1111-4111-8111-111111111111';
  return createCaller({ user, role: admin ? null : role, admin, app: app === 'app' });
}
