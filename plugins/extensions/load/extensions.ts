import { AsyncLocalStorage } from 'node:async_hooks';
import type { RuntimeState } from '../../sandbox/contract.ts';
import { createPlaceholder } from '../discover/discover.ts';
import type { AppBuild, DiscoveredExtension, LoadFailure } from '../model.ts';
import type { ExtensionRow, ToReason } from '../records/record.ts';
import { toAppHalves } from './app-halves.ts';
import type { LoadDeps } from './load-deps.ts';
import { changesFullAuthority, createLoadPlan, type LoadPlan, type ReloadRequest } from './load-plan.ts';
import { createLoadSteps, type LoadSteps } from './load-steps.ts';
import { type PackageState, toPackageState } from './package-states.ts';
import { isConfined, type Slot, toRow } from './slot.ts';

/** What a load changed, by name. */
export interface LoadChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** All extensions of this process: what was found, what became of it, and how to do it again. */
export interface Extensions {
  /**
   * Finds and loads everything, or what changed since the last time: the rest goes on running meanwhile. One load at a
   * time; never rejects. Not to be awaited by code that is being loaded.
   */
  load(again?: ReloadRequest): Promise<LoadChanges>;
  rows(): readonly ExtensionRow[];
  /** What plugins that rely on packages see of each. */
  states(): readonly PackageState[];
  runtime(): Pick<RuntimeState, 'state' | 'posture'>;
  reportFailed(id: string, failure: LoadFailure): void;
  reportRecovered(id: string): void;
  /** Takes everything away. */
  stop(): Promise<void>;
}

/** A load may be asked for in the middle of a request, of which what is loaded is no part. */
const withoutRequestContext = AsyncLocalStorage.snapshot();
const NOTHING: LoadChanges = { added: [], removed: [] };
const NOT_REQUIRED: RuntimeState = { state: 'not-required', posture: null };

export function createExtensions(parts: LoadDeps, asReason: ToReason): Extensions {
  const { log } = parts;
  let slots: ReadonlyMap<string, Slot> = new Map();
  let bundleFailure: LoadFailure | undefined;
  let runtime = NOT_REQUIRED;
  const laterFailures = new Map<string, LoadFailure>();
  let isStopped = false;
  let queue: Promise<unknown> = Promise.resolve();
  const steps = createLoadSteps(parts, () => isStopped);

  /** The order is that of the conventions, "Mounting, order, collisions". */
  async function loadOnce(request: ReloadRequest): Promise<LoadChanges> {
    const all = await parts.discover();
    const plan = createLoadPlan(slots, all, request, laterFailures);
    const next = createSlots(all, plan);
    const fresh = plan.toLoad.map(({ id }) => next.get(id) as Slot);
    const settings = parts.settings(all.filter(({ failure }) => failure === undefined));
    for (const slot of next.values()) setSettings(slot, settings.get(slot.extension.id));

    const confined = [...next.values()].filter(({ extension }) => isConfined(extension));
    const state = confined.length > 0 ? await parts.runtime() : NOT_REQUIRED;
    await checkSlots(steps, fresh, confined, state);
    await replaceSlots(steps, plan, fresh, confined, parts.beforeLoad);

    const built = await buildApp(parts.appBundle, [...next.values()]);

    const changes = compareSlots(slots, next, plan.toLoad);
    slots = next;
    bundleFailure = built.failure;
    runtime = state;
    for (const id of laterFailures.keys())
      if (!plan.kept.some(({ extension }) => extension.id === id)) laterFailures.delete(id);
    await parts.afterLoad();
    return changes;
  }

  async function load(again: ReloadRequest = {}): Promise<LoadChanges> {
    const run = queue.then(async () => {
      if (isStopped) return NOTHING;
      try {
        return await withoutRequestContext(() => loadOnce(again));
      } catch (error) {
        log.error({ err: error }, 'extensions could not be loaded');
        return NOTHING;
      }
    });
    queue = run;
    return run;
  }

  const row = (slot: Slot) => toRow(slot, asReason, laterFailures.get(slot.extension.id));
  /** Not in the middle of a load, at whose end it is done anyway. */
  const settleLater = () => {
    queue = queue.then(() => parts.afterLoad()).catch((error) => log.error({ err: error }, 'required packages'));
  };

  return {
    load,
    rows: () => [
      ...[...slots.values()].map(row),
      ...(bundleFailure ? [toRow(createSlot(createPlaceholder('(app bundle)', bundleFailure, false)), asReason)] : []),
    ],
    states: () => [...slots.values()].map((slot) => toPackageState(slot, row(slot))),
    runtime: () => ({ state: runtime.state, posture: runtime.posture }),
    reportFailed(id, failure) {
      laterFailures.set(id, failure);
      logFailed(log, slots.get(id)?.extension.name, failure);
      settleLater();
    },
    reportRecovered(id) {
      laterFailures.delete(id);
      settleLater();
    },
    async stop() {
      isStopped = true;
      await queue;
      await steps.unload([...slots.values()]);
      slots = new Map();
    },
  };
}

const logFailed = (log: LoadDeps['log'], name = 'an extension', { code, detail }: LoadFailure) =>
  log.error({ extension: name, code }, `${name} has stopped working: ${detail}`);

/** A slot for each extension that was found: that of a kept one stays. */
function createSlots(all: readonly DiscoveredExtension[], { kept }: LoadPlan): Map<string, Slot> {
  const slots = new Map<string, Slot>();
  for (const found of all) slots.set(found.id, kept.find((one) => one.extension.id === found.id) ?? createSlot(found));
  return slots;
}

/** Decides which fresh slots may load: confined ones by the gate, the others by consent. */
async function checkSlots(
  steps: LoadSteps,
  fresh: readonly Slot[],
  confined: readonly Slot[],
  state: RuntimeState,
): Promise<void> {
  const sound = fresh.filter((slot) => slot.failure === undefined);
  await steps.passGates(
    sound.filter(({ extension }) => isConfined(extension)),
    state,
  );
  await steps.checkConsent(sound.filter(({ extension }) => !isConfined(extension)));
  steps.markAmbiguous(confined);
}

/** Unloads what leaves, then loads what is fresh; kept confined slots are loaded anew where full authority moves. */
async function replaceSlots(
  steps: LoadSteps,
  plan: LoadPlan,
  fresh: readonly Slot[],
  confined: readonly Slot[],
  hold: LoadDeps['beforeLoad'],
): Promise<void> {
  const anew = changesFullAuthority(plan) ? plan.kept.filter(({ extension }) => isConfined(extension)) : [];
  hold([...plan.toUnload, ...fresh, ...anew]);
  await steps.unload(plan.toUnload);
  await steps.unload(plan.kept.filter(({ failure }) => failure !== undefined));
  await steps.unload(anew);
  await steps.loadFull(fresh);
  await steps.loadConfined(confined.filter((slot) => fresh.includes(slot) || anew.includes(slot)));
}

const createSlot = (found: Slot['extension']): Slot => ({
  extension: found,
  ...(found.failure ? { failure: found.failure } : {}),
});

function setSettings(slot: Slot, status: Slot['settings']): void {
  if (status) slot.settings = status;
  else delete slot.settings;
}

async function buildApp(bundle: LoadDeps['appBundle'], slots: readonly Slot[]): Promise<AppBuild> {
  const built = await bundle.build(toAppHalves(slots));
  for (const slot of slots) setAppFailure(slot, built.failed.get(slot.extension.id));
  return built;
}

function setAppFailure(slot: Slot, failure: LoadFailure | undefined): void {
  if (failure) slot.appFailure = failure;
  else delete slot.appFailure;
}

/** What leaves and comes back unchanged is neither added nor removed. */
function compareSlots(
  before: ReadonlyMap<string, Slot>,
  after: ReadonlyMap<string, Slot>,
  fresh: readonly DiscoveredExtension[],
): LoadChanges {
  const isOther = (id: string) => before.get(id)?.extension.revision !== after.get(id)?.extension.revision;
  const nameOf = (from: ReadonlyMap<string, Slot>) => (id: string) => (from.get(id) as Slot).extension.name;
  return {
    added: fresh
      .map(({ id }) => id)
      .filter((id) => !before.has(id) || isOther(id))
      .map(nameOf(after)),
    removed: [...before.keys()].filter((id) => !after.has(id) || isOther(id)).map(nameOf(before)),
  };
}
