import { AsyncLocalStorage } from 'node:async_hooks';
import type { RuntimeState } from '../../sandbox/contract.ts';
import { pseudo } from '../discover/discover.ts';
import type { Built, Found, LoadFailure } from '../model.ts';
import type { AsReason, Row } from '../records/record.ts';
import { appHalvesOf } from './app-halves.ts';
import { type PackageState, stateOf } from './package-states.ts';
import type { Parts } from './parts.ts';
import { type Again, movesFullAuthority, type Plan, planFor } from './plan.ts';
import { isConfined, rowOf, type Slot } from './slot.ts';
import { createSteps, type Steps } from './steps.ts';

/** What a load changed, by name. */
export interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** All extensions of this process: what was found, what became of it, and how to do it again. */
export interface Extensions {
  /**
   * Finds and loads everything, or what changed since the last time: the rest goes on running meanwhile. One load at a
   * time; never rejects. Not to be awaited by code that is being loaded.
   */
  load(again?: Again): Promise<Changes>;
  rows(): readonly Row[];
  /** What plugins that rely on packages see of each. */
  states(): readonly PackageState[];
  runtime(): Pick<RuntimeState, 'state' | 'posture'>;
  failed(id: string, failure: LoadFailure): void;
  recovered(id: string): void;
  /** Takes everything away. */
  stop(): Promise<void>;
}

/** A load may be asked for in the middle of a request, of which what is loaded is no part. */
const outside = AsyncLocalStorage.snapshot();
const NOTHING: Changes = { added: [], removed: [] };
const NOT_REQUIRED: RuntimeState = { state: 'not-required', posture: null };

export function createExtensions(parts: Parts, asReason: AsReason): Extensions {
  const { log } = parts;
  let slots: ReadonlyMap<string, Slot> = new Map();
  let bundleFailure: LoadFailure | undefined;
  let runtime = NOT_REQUIRED;
  const since = new Map<string, LoadFailure>();
  let isStopped = false;
  let turn: Promise<unknown> = Promise.resolve();
  const steps = createSteps(parts, () => isStopped);

  /** The order is that of the conventions, "Mounting, order, collisions". */
  async function pass(again: Again): Promise<Changes> {
    const all = await parts.discover();
    const plan = planFor(slots, all, again, since);
    const next = nextSlots(all, plan);
    const fresh = plan.fresh.map(({ id }) => next.get(id) as Slot);
    const settings = parts.settings(all.filter(({ failure }) => failure === undefined));
    for (const slot of next.values()) withSettings(slot, settings.get(slot.found.id));

    const confined = [...next.values()].filter(({ found }) => isConfined(found));
    const state = confined.length > 0 ? await parts.runtime() : NOT_REQUIRED;
    await checkSlots(steps, fresh, confined, state);
    await exchangeSlots(steps, plan, fresh, confined, parts.hold);

    const built = await buildApp(parts.appBundle, [...next.values()]);

    const changes = changesBetween(slots, next, plan.fresh);
    slots = next;
    bundleFailure = built.failure;
    runtime = state;
    for (const id of since.keys()) if (!plan.kept.some(({ found }) => found.id === id)) since.delete(id);
    await parts.settle();
    return changes;
  }

  async function load(again: Again = {}): Promise<Changes> {
    const run = turn.then(async () => {
      if (isStopped) return NOTHING;
      try {
        return await outside(() => pass(again));
      } catch (error) {
        log.error({ err: error }, 'extensions could not be loaded');
        return NOTHING;
      }
    });
    turn = run;
    return run;
  }

  const row = (slot: Slot) => rowOf(slot, asReason, since.get(slot.found.id));
  /** Not in the middle of a load, at whose end it is done anyway. */
  const settleLater = () => {
    turn = turn.then(() => parts.settle()).catch((error) => log.error({ err: error }, 'required packages'));
  };

  return {
    load,
    rows: () => [
      ...[...slots.values()].map(row),
      ...(bundleFailure ? [rowOf(slotFor(pseudo('(app bundle)', bundleFailure, false)), asReason)] : []),
    ],
    states: () => [...slots.values()].map((slot) => stateOf(slot, row(slot))),
    runtime: () => ({ state: runtime.state, posture: runtime.posture }),
    failed(id, failure) {
      since.set(id, failure);
      logFailed(log, slots.get(id)?.found.name, failure);
      settleLater();
    },
    recovered(id) {
      since.delete(id);
      settleLater();
    },
    async stop() {
      isStopped = true;
      await turn;
      await steps.unload([...slots.values()]);
      slots = new Map();
    },
  };
}

const logFailed = (log: Parts['log'], name = 'an extension', { code, detail }: LoadFailure) =>
  log.error({ extension: name, code }, `${name} has stopped working: ${detail}`);

/** A slot for each extension that was found: that of a kept one stays. */
function nextSlots(all: readonly Found[], { kept }: Plan): Map<string, Slot> {
  const slots = new Map<string, Slot>();
  for (const found of all) slots.set(found.id, kept.find((one) => one.found.id === found.id) ?? slotFor(found));
  return slots;
}

/** Decides which fresh slots may load: confined ones by the gate, the others by consent. */
async function checkSlots(
  steps: Steps,
  fresh: readonly Slot[],
  confined: readonly Slot[],
  state: RuntimeState,
): Promise<void> {
  const sound = fresh.filter((slot) => slot.failure === undefined);
  await steps.gate(
    sound.filter(({ found }) => isConfined(found)),
    state,
  );
  await steps.consent(sound.filter(({ found }) => !isConfined(found)));
  steps.ambiguous(confined);
}

/** Unloads what leaves, then loads what is fresh; kept confined slots are loaded anew where full authority moves. */
async function exchangeSlots(
  steps: Steps,
  plan: Plan,
  fresh: readonly Slot[],
  confined: readonly Slot[],
  hold: Parts['hold'],
): Promise<void> {
  const anew = movesFullAuthority(plan) ? plan.kept.filter(({ found }) => isConfined(found)) : [];
  hold([...plan.leaving, ...fresh, ...anew]);
  await steps.unload(plan.leaving);
  await steps.unload(plan.kept.filter(({ failure }) => failure !== undefined));
  await steps.unload(anew);
  await steps.loadFull(fresh);
  await steps.loadConfined(confined.filter((slot) => fresh.includes(slot) || anew.includes(slot)));
}

const slotFor = (found: Slot['found']): Slot => ({ found, ...(found.failure ? { failure: found.failure } : {}) });

function withSettings(slot: Slot, status: Slot['settings']): void {
  if (status) slot.settings = status;
  else delete slot.settings;
}

async function buildApp(bundle: Parts['appBundle'], slots: readonly Slot[]): Promise<Built> {
  const built = await bundle.build(appHalvesOf(slots));
  for (const slot of slots) withAppFailure(slot, built.failed.get(slot.found.id));
  return built;
}

function withAppFailure(slot: Slot, failure: LoadFailure | undefined): void {
  if (failure) slot.appFailure = failure;
  else delete slot.appFailure;
}

/** What leaves and comes back unchanged is neither added nor removed. */
function changesBetween(
  before: ReadonlyMap<string, Slot>,
  after: ReadonlyMap<string, Slot>,
  fresh: readonly Found[],
): Changes {
  const isOther = (id: string) => before.get(id)?.found.revision !== after.get(id)?.found.revision;
  const nameOf = (from: ReadonlyMap<string, Slot>) => (id: string) => (from.get(id) as Slot).found.name;
  return {
    added: fresh
      .map(({ id }) => id)
      .filter((id) => !before.has(id) || isOther(id))
      .map(nameOf(after)),
    removed: [...before.keys()].filter((id) => !after.has(id) || isOther(id)).map(nameOf(before)),
  };
}
