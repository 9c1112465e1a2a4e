import { randomUUID } from 'node:crypto';
import type { AsSystem, Caller, EventsApi, Log } from '#kernel';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { ExtensionManager, LoadChanges } from './load/extension-manager.ts';
import type { ReloadRequest } from './load/reload-plan.ts';
import type { ExtensionRow } from './records/info-record.ts';
import type { ThirdPartyPluginLifecycle } from './third-party/plugins.ts';

interface ReloadDeps {
  readonly extensions: Pick<ExtensionManager, 'load'>;
  readonly plugins: Pick<ThirdPartyPluginLifecycle, 'refresh'>;
  /** Brings packages from elsewhere before a load. False where nothing does. */
  readonly bring: () => Promise<boolean>;
  /** The rows of extensions and third-party plugins. */
  readonly rows: () => readonly ExtensionRow[];
  readonly events: EventsApi;
  readonly bus: InterProcessBus;
  readonly asSystem: AsSystem;
  readonly log: Log;
}

export interface ReloadControl {
  /** The first load of this process. */
  loadFirst(): Promise<void>;
  /** Loads what changed in this process, because a folder changed. */
  reloadChanged(): Promise<void>;
  /** Loads in all processes what changed, and `names` in any case; without names all failed extensions too. */
  reloadEverywhere(caller: Caller, names?: readonly string[]): Promise<void>;
  /** Emits the event `extensions.unload` for all extensions. */
  announceUnload(): void;
}

const CHANNEL = 'extensions.reload';
/** Bytes of names in one message; if there are more, the receivers try all failed extensions. */
const MAX_BYTES = 6000;

const toReloadRequest = (list: readonly string[]): ReloadRequest =>
  list.length > 0 ? { names: list } : { retryFailed: true };

/** Reloads extensions in one process or in all, and emits the events. */
export function createReloadControl({
  extensions,
  plugins,
  bring,
  rows,
  events,
  bus,
  asSystem,
  log,
}: ReloadDeps): ReloadControl {
  const processId = randomUUID();
  const system = () => asSystem('extensions are loaded or unloaded');
  const names = () =>
    rows()
      .filter(({ status }) => status !== 'failed')
      .map(({ extension }) => extension.name);

  function emitLoadEvents(caller: Caller, { added, removed }: LoadChanges): void {
    if (removed.length > 0) events.action(['extensions.unload'], { caller, extensions: removed });
    if (added.length > 0) events.action(['extensions.load'], { caller, extensions: added });
    events.action(['extensions.reload'], { caller, extensions: names(), added, removed });
  }

  async function reloadHere(caller: Caller, again: ReloadRequest): Promise<void> {
    await bring();
    // Plugins first, because an extension must not take the name of a plugin.
    const [pluginChanges, extensionChanges] = [await plugins.refresh(), await extensions.load(again)];
    const changes = {
      added: [...pluginChanges.added, ...extensionChanges.added],
      removed: [...pluginChanges.removed, ...extensionChanges.removed],
    };
    log.info({ added: changes.added, removed: changes.removed }, 'extensions were loaded again');
    emitLoadEvents(caller, changes);
  }

  bus.subscribe(CHANNEL, (payload) => {
    const { from, names: again } = (payload ?? {}) as { from?: unknown; names?: unknown };
    if (from === processId) return;
    const list = Array.isArray(again) ? again.filter((one) => typeof one === 'string') : [];
    void reloadHere(system(), toReloadRequest(list));
  });

  return {
    async loadFirst() {
      // Plugins of folders are loaded before core plugins start; those that are brought need storage, and so come now.
      if (await bring()) await plugins.refresh();
      await extensions.load();
      events.action(['extensions.load'], { caller: system(), extensions: names() });
    },
    reloadChanged: () => reloadHere(system(), {}),
    async reloadEverywhere(caller, again = []) {
      await reloadHere(caller, toReloadRequest(again));
      const isLong = Buffer.byteLength(JSON.stringify(again)) > MAX_BYTES;
      await bus.publish(CHANNEL, { from: processId, names: isLong ? [] : again });
    },
    announceUnload: () => events.action(['extensions.unload'], { caller: system(), extensions: names() }),
  };
}
