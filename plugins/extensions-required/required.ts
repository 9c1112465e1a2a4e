import type { Log } from '#kernel';
import type { Bus } from '../cluster/contract.ts';
import type { PackageState, RequiredPackages } from '../extensions/contract.ts';
import { createMemory, type Memory } from './memory.ts';
import { assertAllLoaded, missingOf } from './must-load.ts';
import type { Refusals } from './refusals.ts';
import type { Requirements } from './store.ts';

/** As the manifest declares them. */
export interface OwnConfig {
  readonly EXTENSIONS_MUST_LOAD: readonly string[];
}

/** Of `extensions`. */
export interface SharedConfig {
  readonly SAFE_MODE: boolean;
}

interface Deps {
  readonly config: OwnConfig & SharedConfig;
  readonly store: Requirements;
  readonly refusals: Refusals;
  readonly bus: Bus;
  readonly log: Log;
}

const CHANNEL = 'extensions.required';

/**
 * Which packages are required, and what is refused because of it. What they filter is remembered in the database, so that it is
 * refused as well while a package is broken or gone and cannot say it.
 */
export function createRequired({ config, store, refusals, bus, log }: Deps): RequiredPackages {
  const mustLoad = new Set(config.EXTENSIONS_MUST_LOAD);
  const memory = createMemory(store, mustLoad);
  /** What was there at the last `settle`. */
  let last: readonly PackageState[] | undefined;
  /** Names of what is being loaded or taken away. */
  const held = new Set<string>();
  const apply = () => applyRefusals({ memory, refusals, held, states: last ?? [], isSafe: config.SAFE_MODE });

  async function reread(): Promise<void> {
    await memory.read();
    for (const state of last ?? []) memory.learn(state);
    apply();
  }
  const rereadLater = () => {
    if (last) void reread().catch((error) => log.warn({ err: error }, 'required packages could not be read again'));
  };
  bus.subscribe(CHANNEL, rereadLater);
  bus.onGap(rereadLater);

  return {
    isRequired: memory.isRequired,
    async prepare() {
      await memory.read();
      apply();
    },
    hold(all) {
      for (const state of all) {
        if (!memory.find(state.name) && state.declared && state.filters) memory.learn(state);
        held.add(state.name);
      }
      apply();
    },
    async settle(all) {
      last = all;
      held.clear();
      for (const state of all) memory.learn(state);
      apply();
      await memory.write().catch((error) => log.error({ err: error }, 'what is required could not be stored'));
    },
    absent: () =>
      memory
        .all()
        .filter(({ name }) => memory.isRequired(name) && !last?.some((one) => one.name === name))
        .map(({ name, place }) => ({ id: place, name })),
    async decide({ id, name }, required) {
      const before = memory.find(name) ?? { name, place: id, declared: false, filters: null };
      const isThere = last?.some((state) => state.name === name) ?? false;
      // Of what is gone, a decision against it is the end.
      if (!isThere && required !== true) await store.remove(name);
      else await store.decide({ ...before, decision: required });
      await reread();
      await bus.publish(CHANNEL, {});
    },
    assertLoaded(all, reasons) {
      if (!config.SAFE_MODE) assertAllLoaded(mustLoad, all, reasons);
      else if (mustLoad.size > 0) log.warn('SAFE_MODE is on: EXTENSIONS_MUST_LOAD is not looked at');
    },
  };
}

interface Refusing {
  readonly memory: Memory;
  readonly refusals: Refusals;
  readonly held: ReadonlySet<string>;
  readonly states: readonly PackageState[];
  readonly isSafe: boolean;
}

/** Refuses what required packages filter and do not check now, and nothing else. */
function applyRefusals({ memory, refusals, held, states, isSafe }: Refusing): void {
  /** In safe mode, in which no package is loaded, an admin must be able to sign in. */
  const refused = (filters: readonly string[] | null) =>
    isSafe ? (filters?.filter((event) => !event.startsWith('auth.')) ?? null) : filters;
  for (const name of refusals.names()) if (!memory.find(name)) refusals.clear(name);
  for (const { name, filters } of memory.all()) {
    const missing = memory.isRequired(name) ? missingOf(name, states) : [];
    if (held.has(name) && memory.isRequired(name)) {
      // What is being loaded anew, while it is not known what it filters, leaves what is refused as it is.
      if (filters) refusals.set(name, refused(filters));
    } else if (missing === 'all') refusals.set(name, refused(filters));
    else if (missing.length > 0) refusals.set(name, refused(missing));
    else refusals.clear(name);
  }
}
