import type { ConfinedRuntimeState } from '../../sandbox/contract.ts';
import { LoadFailure } from '../extension-types.ts';
import { withDeadline } from './deadline.ts';
import { type ExtensionLoadSlot, hasExtensionServerPart, isConfinedExtension } from './extension-load-state.ts';
import { CONFINED_LOAD_ORDER, EXTENSION_LOAD_PHASES, type LoadDeps, type LoadPhase } from './loader-dependencies.ts';
import { createExtensionSlotLoader } from './single-extension-load.ts';

/** Milliseconds that one package may take to load: code that waits for ever must not delay the other packages. */
const DEADLINES = { full: 15_000, gate: 60_000, confined: 30_000 } as const;

/** Packages that pass the gate at the same time: one is built while another one is probed. */
const PARALLEL_GATES = 2;

const PHASE_OF = { hook: 'hooks', endpoint: 'endpoints', operation: 'operations', bundle: 'bundles' } as const;
const phaseOf = ({ extension }: ExtensionLoadSlot): LoadPhase | undefined =>
  PHASE_OF[extension.type as keyof typeof PHASE_OF];

/** The steps of a load. No step throws: a failure is kept in its slot. */
export interface ExtensionLoadSteps {
  /** Runs the gate for confined packages, a few at a time, because a probe needs a process of its own. */
  passGates(slots: readonly ExtensionLoadSlot[], runtime: ConfinedRuntimeState): Promise<void>;
  /** Checks consent for extensions that are not confined. */
  checkConsent(slots: readonly ExtensionLoadSlot[]): Promise<void>;
  /** Fails extensions that have the name of another one, among all that passed the gate. */
  markAmbiguous(slots: readonly ExtensionLoadSlot[]): void;
  loadFull(slots: readonly ExtensionLoadSlot[]): Promise<void>;
  loadConfined(slots: readonly ExtensionLoadSlot[]): Promise<void>;
  unload(slots: readonly ExtensionLoadSlot[]): Promise<void>;
}

export function createExtensionLoadSteps(deps: LoadDeps, isStopped: () => boolean): ExtensionLoadSteps {
  const { confined } = deps;
  const { attempt, load, unload } = createExtensionSlotLoader(deps.log, isStopped);

  const passGate = (slot: ExtensionLoadSlot, state: ConfinedRuntimeState['state'], reason: string | undefined) =>
    attempt(slot, 'VALIDATION_INCOMPLETE', async () => {
      if (state === 'unavailable')
        throw new LoadFailure('VALIDATION_INCOMPLETE', reason ?? 'the confined runtime is not available');
      slot.failedAtGate = true;
      slot.gated = await withDeadline(DEADLINES.gate, 'VALIDATION_INCOMPLETE', () => confined.passGate(slot.extension));
      slot.failedAtGate = false;
    });

  return {
    async passGates(slots, { state, reason }) {
      const left = [...slots];
      const work = async () => {
        for (let slot = left.shift(); slot !== undefined; slot = left.shift()) await passGate(slot, state, reason);
      };
      await Promise.all(Array.from({ length: PARALLEL_GATES }, work));
    },
    async checkConsent(slots) {
      for (const slot of slots) {
        await attempt(slot, 'VALIDATION_INCOMPLETE', async () => {
          const refused = await deps.consent(slot.extension);
          if (refused) throw refused;
        });
      }
    },
    markAmbiguous(slots) {
      const passed = slots.filter(({ gated, failure }) => gated !== undefined && failure === undefined);
      const ambiguous = confined.findAmbiguous(passed.map(({ gated }) => gated));
      for (const slot of passed) {
        const failure = ambiguous.get(slot.extension.id);
        if (failure) slot.failure = failure;
      }
    },
    async loadFull(slots) {
      for (const phase of EXTENSION_LOAD_PHASES) {
        for (const slot of slots) {
          if (
            slot.failure ||
            isConfinedExtension(slot.extension) ||
            phaseOf(slot) !== phase ||
            !hasExtensionServerPart(slot.extension)
          )
            continue;
          await load(slot, DEADLINES.full, () => deps.loadFull(slot.extension, phase));
        }
      }
    },
    async loadConfined(slots) {
      for (const phase of CONFINED_LOAD_ORDER) {
        for (const slot of slots) {
          if (slot.failure || slot.gated === undefined || phaseOf(slot) !== phase) continue;
          await load(slot, DEADLINES.confined, () => confined.load(slot.gated, phase));
        }
      }
    },
    async unload(slots) {
      for (const slot of [...slots].reverse()) {
        await unload(slot);
      }
    },
  };
}
