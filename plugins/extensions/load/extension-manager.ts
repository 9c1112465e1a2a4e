import { AsyncLocalStorage } from 'node:async_hooks';
import type { ConfinedRuntimeState } from '../../sandbox/contract.ts';
import { createFailurePlaceholder } from '../discover/discover.ts';
import type { DiscoveredExtension, ExtensionAppBuildResult, LoadFailure } from '../extension-types.ts';
import type { ExtensionRow, FailureReasonRedactor } from '../records/info-record.ts';
import { toAppParts } from './app-parts.ts';
import { type ExtensionLoadSlot, isConfinedExtension, toExtensionRow } from './extension-load-state.ts';
import { createExtensionLoadSteps, type ExtensionLoadSteps } from './load-steps.ts';
import type { LoadDeps } from './loader-dependencies.ts';
import { type PackageEventFilterState, toExtensionFilterState } from './package-filter-states.ts';
import {
  changesFullAuthority,
  createExtensionReloadPlan,
  type ExtensionReloadPlan,
  type ReloadRequest,
} from './reload-plan.ts';

/** The extensions that a load added and removed, by name. */
export interface LoadChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** All extensions of this process with their states, and the function that loads them. */
export interface ExtensionManager {
  /**
   * Discovers and loads all extensions, or those that changed since the last load; the others keep running. Loads run
   * one after the other and never reject. An extension that awaits it while it is being loaded waits for ever.
   */
  load(request?: ReloadRequest): Promise<LoadChanges>;
  rows(): readonly ExtensionRow[];
  /** The state of each extension for plugins that rely on packages. */
  states(): readonly PackageEventFilterState[];
  runtime(): Pick<ConfinedRuntimeState, 'state' | 'posture'>;
  reportFailed(id: string, failure: LoadFailure): void;
  reportRecovered(id: string): void;
  /** Unloads all extensions. */
  stop(): Promise<void>;
}

/** Runs a load outside of the request that caused it: extensions must not inherit its asynchronous context. */
const withoutRequestContext = AsyncLocalStorage.snapshot();
const NOTHING: LoadChanges = { added: [], removed: [] };
const NOT_REQUIRED: ConfinedRuntimeState = { state: 'not-required', posture: null };

/** The state without the reason, which may name paths. */
const shownState = ({ state, posture }: ConfinedRuntimeState) => ({ state, posture });

export function createExtensionManager(deps: LoadDeps, toReason: FailureReasonRedactor): ExtensionManager {
  const { log } = deps;
  let slots: ReadonlyMap<string, ExtensionLoadSlot> = new Map();
  let bundleFailure: LoadFailure | undefined;
  let runtime = NOT_REQUIRED;
  const laterFailures = new Map<string, LoadFailure>();
  let isStopped = false;
  let queue: Promise<unknown> = Promise.resolve();
  const steps = createExtensionLoadSteps(deps, () => isStopped);

  /** Runs one load. The order of its steps is that of the conventions, "Mounting, order, collisions". */
  async function loadOnce(request: ReloadRequest): Promise<LoadChanges> {
    const all = await deps.discover();
    const plan = createExtensionReloadPlan(slots, all, request, laterFailures);
    const next = createSlots(all, plan);
    const loading = plan.toLoad.map(({ id }) => next.get(id) as ExtensionLoadSlot);
    const settings = deps.settings(all.filter(({ failure }) => failure === undefined));
    for (const slot of next.values()) setSettings(slot, settings.get(slot.extension.id));

    const confined = [...next.values()].filter(({ extension }) => isConfinedExtension(extension));
    const state = confined.length > 0 ? await deps.runtime() : NOT_REQUIRED;
    await checkSlots(steps, loading, confined, state);
    await replaceSlots(steps, plan, loading, confined, deps.beforeLoad);

    const built = await buildApp(deps.appBundle, [...next.values()]);
    const changes = compareSlots(slots, next, plan.toLoad);
    slots = next;
    bundleFailure = built.failure;
    runtime = state;
    const keptIds = new Set(plan.kept.map(({ extension }) => extension.id));
    for (const id of laterFailures.keys()) if (!keptIds.has(id)) laterFailures.delete(id);
    await deps.afterLoad();
    return changes;
  }

  async function load(request: ReloadRequest = {}): Promise<LoadChanges> {
    const run = queue.then(async () => {
      if (isStopped) return NOTHING;
      try {
        return await withoutRequestContext(() => loadOnce(request));
      } catch (error) {
        log.error({ err: error }, 'extensions could not be loaded');
        return NOTHING;
      }
    });
    queue = run;
    return run;
  }

  const row = (slot: ExtensionLoadSlot) => toExtensionRow(slot, toReason, laterFailures.get(slot.extension.id));
  /** Runs `afterLoad` behind a running load, which calls it itself. */
  const afterLoadInBackground = () => {
    queue = queue.then(() => deps.afterLoad()).catch((error) => log.error({ err: error }, 'required packages'));
  };

  return {
    load,
    rows: () => [
      ...[...slots.values()].map(row),
      ...(bundleFailure ? [toExtensionRow(createBundleSlot(bundleFailure), toReason)] : []),
    ],
    states: () => [...slots.values()].map((slot) => toExtensionFilterState(slot, row(slot))),
    runtime: () => shownState(runtime.state === 'not-required' ? deps.runtimeState() : runtime),
    reportFailed(id, failure) {
      laterFailures.set(id, failure);
      logFailed(log, slots.get(id)?.extension.name, failure);
      afterLoadInBackground();
    },
    reportRecovered(id) {
      laterFailures.delete(id);
      afterLoadInBackground();
    },
    async stop() {
      isStopped = true;
      await queue;
      await steps.unload([...slots.values()]);
      slots = new Map();
    },
  };
}

/** The slot under which a failed build of the app bundle is listed. */
const createBundleSlot = (failure: LoadFailure): ExtensionLoadSlot =>
  createSlot(createFailurePlaceholder('(app bundle)', failure, false));

const logFailed = (log: LoadDeps['log'], name = 'an extension', { code, detail }: LoadFailure) =>
  log.error({ extension: name, code }, `${name} has stopped working: ${detail}`);

/** One slot for each discovered extension; a kept extension keeps its slot. */
function createSlots(
  all: readonly DiscoveredExtension[],
  { kept }: ExtensionReloadPlan,
): Map<string, ExtensionLoadSlot> {
  const slots = new Map<string, ExtensionLoadSlot>();
  for (const extension of all)
    slots.set(extension.id, kept.find((one) => one.extension.id === extension.id) ?? createSlot(extension));
  return slots;
}

/** Decides which new slots may load: confined extensions by the gate, the others by consent. */
async function checkSlots(
  steps: ExtensionLoadSteps,
  loading: readonly ExtensionLoadSlot[],
  confined: readonly ExtensionLoadSlot[],
  state: ConfinedRuntimeState,
): Promise<void> {
  const withoutFailure = loading.filter((slot) => slot.failure === undefined);
  await steps.passGates(
    withoutFailure.filter(({ extension }) => isConfinedExtension(extension)),
    state,
  );
  await steps.checkConsent(withoutFailure.filter(({ extension }) => !isConfinedExtension(extension)));
  steps.markAmbiguous(confined);
}

/**
 * Unloads slots, then loads slots. Kept confined slots are loaded again if an extension with full authority was added or removed.
 */
async function replaceSlots(
  steps: ExtensionLoadSteps,
  plan: ExtensionReloadPlan,
  loading: readonly ExtensionLoadSlot[],
  confined: readonly ExtensionLoadSlot[],
  hold: LoadDeps['beforeLoad'],
): Promise<void> {
  const reloaded = changesFullAuthority(plan)
    ? plan.kept.filter(({ extension }) => isConfinedExtension(extension))
    : [];
  hold([...plan.toUnload, ...loading, ...reloaded]);
  await steps.unload(plan.toUnload);
  await steps.unload(plan.kept.filter(({ failure }) => failure !== undefined));
  await steps.unload(reloaded);
  await steps.loadFull(loading);
  await steps.loadConfined(confined.filter((slot) => loading.includes(slot) || reloaded.includes(slot)));
}

const createSlot = (extension: ExtensionLoadSlot['extension']): ExtensionLoadSlot => ({
  extension,
  ...(extension.failure ? { failure: extension.failure } : {}),
});

function setSettings(slot: ExtensionLoadSlot, status: ExtensionLoadSlot['settings']): void {
  if (status) slot.settings = status;
  else delete slot.settings;
}

async function buildApp(
  bundle: LoadDeps['appBundle'],
  slots: readonly ExtensionLoadSlot[],
): Promise<ExtensionAppBuildResult> {
  const built = await bundle.build(toAppParts(slots));
  for (const slot of slots) setAppFailure(slot, built.failed.get(slot.extension.id));
  return built;
}

function setAppFailure(slot: ExtensionLoadSlot, failure: LoadFailure | undefined): void {
  if (failure) slot.appFailure = failure;
  else delete slot.appFailure;
}

/** An extension that is unloaded and loaded again without a change is neither added nor removed. */
function compareSlots(
  before: ReadonlyMap<string, ExtensionLoadSlot>,
  after: ReadonlyMap<string, ExtensionLoadSlot>,
  loading: readonly DiscoveredExtension[],
): LoadChanges {
  const hasChanged = (id: string) => before.get(id)?.extension.revision !== after.get(id)?.extension.revision;
  const nameOf = (from: ReadonlyMap<string, ExtensionLoadSlot>) => (id: string) =>
    (from.get(id) as ExtensionLoadSlot).extension.name;
  return {
    added: loading
      .map(({ id }) => id)
      .filter((id) => !before.has(id) || hasChanged(id))
      .map(nameOf(after)),
    removed: [...before.keys()].filter((id) => !after.has(id) || hasChanged(id)).map(nameOf(before)),
  };
}
