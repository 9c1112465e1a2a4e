import type { Log } from '#kernel';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { PackageEventFilterState, RequiredPackageGuard } from '../extensions/contract.ts';
import type { EventRefusals } from './event-refusals.ts';
import { assertMustLoadPackages, findMissingEventFilters } from './must-load.ts';
import { createRequirementCache, type RequirementCache } from './requirement-cache.ts';
import type { RequirementStore } from './store.ts';

/** The settings of the plugin `extensions-required`. */
export interface ExtensionsRequiredConfig {
  readonly EXTENSIONS_MUST_LOAD: readonly string[];
}

/** The setting of the plugin `extensions` that `extensions-required` reads. */
export interface SafeModeConfig {
  readonly SAFE_MODE: boolean;
}

interface Deps {
  readonly config: ExtensionsRequiredConfig & SafeModeConfig;
  readonly store: RequirementStore;
  readonly refusals: EventRefusals;
  readonly bus: InterProcessBus;
  readonly log: Log;
}

const CHANNEL = 'extensions.required';

/**
 * Knows which packages are required, and refuses their events while they are not loaded. Their filters are stored, so
 * that the events are refused also while a package is broken or removed and its manifest cannot be read.
 */
export function createRequiredPackageGuard({ config, store, refusals, bus, log }: Deps): RequiredPackageGuard {
  const mustLoad = new Set(config.EXTENSIONS_MUST_LOAD);
  const cache = createRequirementCache(store, mustLoad);
  /** The states at the last `afterLoad`. */
  let lastStates: readonly PackageEventFilterState[] | undefined;
  /** Names of packages that are being loaded or unloaded. */
  const loading = new Set<string>();
  const apply = () => applyRefusals({ cache, refusals, loading, states: lastStates ?? [], isSafe: config.SAFE_MODE });

  async function reread(): Promise<void> {
    await cache.read();
    for (const state of lastStates ?? []) cache.learn(state);
    apply();
  }
  const rereadInBackground = () => {
    if (lastStates)
      void reread().catch((error) =>
        log.warn({ err: error }, 'required packages could not be read again from the database'),
      );
  };
  bus.subscribe(CHANNEL, rereadInBackground);
  bus.onReconnect(rereadInBackground);

  return {
    isRequired: cache.isRequired,
    async prepare() {
      await cache.read();
      apply();
    },
    beforeLoad(all) {
      for (const state of all) {
        if (!cache.find(state.name) && state.declared && state.filters) cache.learn(state);
        loading.add(state.name);
      }
      apply();
    },
    async afterLoad(all) {
      lastStates = all;
      loading.clear();
      for (const state of all) cache.learn(state);
      apply();
      await cache.write().catch((error) => log.error({ err: error }, 'required packages could not be stored'));
    },
    listMissing: () =>
      cache
        .all()
        .filter(({ name }) => cache.isRequired(name) && !lastStates?.some((one) => one.name === name))
        .map(({ name, place }) => ({ id: place, name })),
    async setRequired({ id, name }, required) {
      const before = cache.find(name) ?? { name, place: id, declared: false, filters: null };
      const isThere = lastStates?.some((state) => state.name === name) ?? false;
      // A removed package that an admin no longer requires needs no row.
      if (!isThere && required !== true) await store.remove(name);
      else await store.putDecision({ ...before, decision: required });
      await reread();
      await bus.publish(CHANNEL, {});
    },
    assertLoaded(all, reasons) {
      if (!config.SAFE_MODE) assertMustLoadPackages(mustLoad, all, reasons);
      else if (mustLoad.size > 0) log.warn('SAFE_MODE is on: EXTENSIONS_MUST_LOAD is ignored');
    },
  };
}

interface RefusalInput {
  readonly cache: RequirementCache;
  readonly refusals: EventRefusals;
  readonly loading: ReadonlySet<string>;
  readonly states: readonly PackageEventFilterState[];
  readonly isSafe: boolean;
}

/** Refuses exactly the events that required packages have to filter and do not filter now. */
function applyRefusals({ cache, refusals, loading, states, isSafe }: RefusalInput): void {
  /** In safe mode no package is loaded, and an admin must be able to sign in. */
  const refused = (filters: readonly string[] | null) =>
    isSafe ? (filters?.filter((event) => !event.startsWith('auth.')) ?? null) : filters;
  for (const name of refusals.names()) if (!cache.find(name)) refusals.clear(name);
  for (const { name, filters } of cache.all()) {
    const missing = cache.isRequired(name) ? findMissingEventFilters(name, states) : [];
    if (loading.has(name) && cache.isRequired(name)) {
      // During a load, a package whose filters are not known leaves the refusals as they are.
      if (filters) refusals.set(name, refused(filters));
    } else if (missing === 'all') refusals.set(name, refused(filters));
    else if (missing.length > 0) refusals.set(name, refused(missing));
    else refusals.clear(name);
  }
}
