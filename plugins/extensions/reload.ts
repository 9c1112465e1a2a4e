import { randomUUID } from 'node:crypto';
import type { AsSystem, Caller, EventsApi, Log } from '#kernel';
import type { Bus } from '../cluster/contract.ts';
import type { Changes, Extensions } from './load/extensions.ts';
import type { Again } from './load/plan.ts';
import type { Row } from './records/record.ts';
import type { ThirdParty } from './third-party/third-party.ts';

interface ReloadDeps {
  readonly extensions: Pick<Extensions, 'load'>;
  readonly plugins: Pick<ThirdParty, 'refresh'>;
  /** Extensions and plugins. */
  readonly rows: () => readonly Row[];
  readonly events: EventsApi;
  readonly bus: Bus;
  readonly asSystem: AsSystem;
  readonly log: Log;
}

export interface Reload {
  /** The first load of this process. */
  first(): Promise<void>;
  /** What changed in this process, because a folder did. */
  changed(): Promise<void>;
  /** What changed, and `names` in any case, or without names all that failed, in all processes. */
  everywhere(caller: Caller, names?: readonly string[]): Promise<void>;
  /** Says that everything is taken away. */
  gone(): void;
}

const CHANNEL = 'extensions.reload';
/** Bytes of names that a message holds; where there are more, the receivers try all that failed. */
const MOST_BYTES = 6000;

const asked = (list: readonly string[]): Again => (list.length > 0 ? { names: list } : { failed: true });

/** Loading again, in one process or in all of them, and who is told. */
export function createReload({ extensions, plugins, rows, events, bus, asSystem, log }: ReloadDeps): Reload {
  const self = randomUUID();
  const system = () => asSystem('extensions come and go');
  const names = () =>
    rows()
      .filter(({ status }) => status !== 'failed')
      .map(({ found }) => found.name);

  function tell(caller: Caller, { added, removed }: Changes): void {
    if (removed.length > 0) events.action(['extensions.unload'], { caller, extensions: removed });
    if (added.length > 0) events.action(['extensions.load'], { caller, extensions: added });
    events.action(['extensions.reload'], { caller, extensions: names(), added, removed });
  }

  async function here(caller: Caller, again: Again): Promise<void> {
    // Plugins first: an extension must not take the name of one.
    const [ofPlugins, ofExtensions] = [await plugins.refresh(), await extensions.load(again)];
    const changes = {
      added: [...ofPlugins.added, ...ofExtensions.added],
      removed: [...ofPlugins.removed, ...ofExtensions.removed],
    };
    log.info({ added: changes.added, removed: changes.removed }, 'extensions were loaded again');
    tell(caller, changes);
  }

  bus.subscribe(CHANNEL, (payload) => {
    const { from, names: again } = (payload ?? {}) as { from?: unknown; names?: unknown };
    if (from === self) return;
    const list = Array.isArray(again) ? again.filter((one) => typeof one === 'string') : [];
    void here(system(), asked(list));
  });

  return {
    async first() {
      await extensions.load();
      events.action(['extensions.load'], { caller: system(), extensions: names() });
    },
    changed: () => here(system(), {}),
    async everywhere(caller, again = []) {
      await here(caller, asked(again));
      const isLong = Buffer.byteLength(JSON.stringify(again)) > MOST_BYTES;
      await bus.publish(CHANNEL, { from: self, names: isLong ? [] : again });
    },
    gone: () => events.action(['extensions.unload'], { caller: system(), extensions: names() }),
  };
}
