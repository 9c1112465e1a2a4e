import type { Log } from '#kernel';
import type { Bus } from '../cluster/contract.ts';
import type { PackageState, RequiredPackages } from '../extensions/contract.ts';
import type { EventRefusals } from './event-refusals.ts';
import { assertAllLoaded, findMissing } from './must-load.ts';
import { createRequirementCache, type RequirementCache } from './requirement-cache.ts';
import type { RequirementStore } from './store.ts';

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
  readonly store: RequirementStore;
  readonly refusals: EventRefusals;
  readonly bus: Bus;
  readonly log: Log;
}

const CHANNEL = 'extensions.required';

/**
 * Which packages are required, and what is refused because of it. What they filter is remembered in the database, so that it is
 * refused as well while a package is broken or gone and cannot say it.
 */
export function createRequiredPackages({ config, store, refusals, bus, log }: Deps): RequiredPackages {
  const mustLoad = new Set(config.EXTENSIONS_MUST_LOAD);
  const cache = createRequirementCache(store, mustLoad);
  /** What was there at the last `settle`. */
  let lastStates: readonly PackageState[] | undefined;
  /** Names of what is being loaded or taken away. */
  const loading = new Set<string>();
  const apply = () => applyRefusals({ cache, refusals, loading, states: lastStates ?? [], isSafe: config.SAFE_MODE });

  async function reread(): Promise<void> {
    await cache.read();
    for (const state of lastStates ?? []) cache.learn(state);
    apply();
  }
  const rereadInBackground = () => {
    if (lastStates)
      void reread().catch((error) => log.warn({ err: error }, 'required packages could not be read again'));
  };
  bus.subscribe(CHANNEL, rereadInBackground);
  bus.onGap(rereadInBackground);

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
      await cache.write().catch((error) => log.error({ err: error }, 'what is required could not be stored'));
    },
    listMissing: () =>
      cache
        .all()
        .filter(({ name }) => cache.isRequired(name) && !lastStates?.some((one) => one.name === name))
        .map(({ name, place }) => ({ id: place, name })),
    async setRequired({ id, name }, required) {
      const before = cache.find(name) ?? { name, place: id, declared: false, filters: null };
      const isThere = lastStates?.some((state) => state.name === name) ?? false;
      // Of what is gone, a decision against it is the end.
      if (!isThere && required !== true) await store.remove(name);
      else await store.putDecision({ ...before, decision: required });
      await reread();
      await bus.publish(CHANNEL, {});
    },
    assertLoaded(all, reasons) {
      if (!config.SAFE_MODE) assertAllLoaded(mustLoad, all, reasons);
      else if (mustLoad.size > 0) log.warn('SAFE_MODE is on: EXTENSIONS_MUST_LOAD is not looked at');
    },
  };
}

interface RefusalInput {
  readonly cache: RequirementCache;
  readonly refusals: EventRefusals;
  readonly loading: ReadonlySet<string>;
  readonly states: readonly PackageState[];
  readonly isSafe: boolean;
}

/** Refuses what required packages filter and do not check now, and nothing else. */
function applyRefusals({ cache, refusals, loading, states, isSafe }: RefusalInput): void {
  /** In safe mode, in which no package is loaded, an admin must be able to sign in. */
  const refused = (filters: readonly string[] | null) =>
    isSafe ? (filters?.filter((event) => !event.startsWith('auth.')) ?? null) : filters;
  for (const name of refusals.names()) if (!cache.find(name)) refusals.clear(name);
  for (const { name, filters } of cache.all()) {
    const missing = cache.isRequired(name) ? findMissing(name, states) : [];
    if (loading.has(name) && cache.isRequired(name)) {
      // What is being loaded anew, while it is not known what it filters, leaves what is refused as it is.
      if (filters) refusals.set(name, refused(filters));
    } else if (missing === 'all') refusals.set(name, refused(filters));
    else if (missing.length > 0) refusals.set(name, refused(missing));
    else refusals.clear(name);
  }
}
