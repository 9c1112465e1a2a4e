import { join } from 'node:path';
import type { Caller, EventsApi, Host, PackagesApi, PluginInfo } from '#kernel';
import {
  type CallerProvider,
  identity as identityKey,
  type SessionService,
  sessions as sessionsKey,
} from '../../../plugins/auth/contract.ts';
import type { Db } from '../../../plugins/database/contract.ts';
import { type InProcessService, type ServiceOptions, startService } from '../../support/service.ts';
import { type TestPlugin, writeTestPluginPackages } from '../../support/test-plugins.ts';

/** A running service with the services of `auth` in the hand of the test, which loads third-party plugins into it. */
export interface AuthFixture {
  readonly service: InProcessService;
  readonly identity: CallerProvider;
  readonly sessions: SessionService;
  readonly events: EventsApi;
  readonly db: Db;
  /** Loads a third-party plugin into the running service and starts it. The returned function unloads it. */
  load(plugin: TestPlugin): Promise<() => Promise<void>>;
  /** Numbers of contributions and event listeners that the kernel still has of a plugin. */
  left(name: string): { readonly facets: number; readonly listeners: number };
  stop(): Promise<void>;
}

interface Held {
  readonly identity: CallerProvider;
  readonly sessions: SessionService;
  readonly packages: PackagesApi;
  readonly events: EventsApi;
  readonly db: Db;
}

export async function startAuthFixture(options: ServiceOptions = {}): Promise<AuthFixture> {
  let held: Held | undefined;
  const core = await writeTestPluginPackages([
    {
      name: 'auth-probe',
      manifest: {
        uses: { identity: '^1.0.0', sessions: '^1.0.0' },
        capabilities: {
          packages: true,
          database: { write: ['platform_users'] },
          events: { filter: ['auth.login'], action: ['auth.login'] },
        },
      },
      register(host: Host) {
        const { packages, events, db } = host;
        held = { ...host.use({ identity: identityKey, sessions: sessionsKey }), packages, events, db };
      },
    },
  ]);
  const service = await startService({ ...options, plugins: core.composition.plugins }).catch(async (error) => {
    await core.remove();
    throw error;
  });
  const { identity, sessions, packages, events, db } = held as Held;
  const folders: { remove(): Promise<void> }[] = [core];

  return {
    service,
    identity,
    sessions,
    events,
    db,
    async load(plugin) {
      const own = await writeTestPluginPackages([{ ...plugin, thirdParty: true }]);
      folders.push(own);
      const found: PluginInfo = await packages.inspect(join(own.local, `0-${plugin.name.replace(/\W/g, '-')}`));
      await packages.load(found);
      await packages.start(found);
      return () => packages.unload(found);
    },
    left: (name) => service.kernel.countOf(name),
    async stop() {
      await service.stop();
      for (const folder of folders) await folder.remove();
    },
  };
}

/** The members of a caller that tests compare. */
export const callerSummaryOf = ({ user, role, admin, app, ip }: Caller) => ({ user, role, admin, app, ip });
