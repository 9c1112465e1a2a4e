import type { Log } from '#kernel';
import { type Loaded, LoadFailure, type ReasonCode } from '../model.ts';
import type { Slot } from './slot.ts';
import { within } from './within.ts';

/** What a load does with one slot. None of it throws: a failure is the slot's alone. */
export interface SlotSteps {
  /** Runs `work`; the log gets all of what went wrong, the slot what may be shown. False where it failed or was not run. */
  attempt(slot: Slot, code: ReasonCode, work: () => Promise<void>): Promise<boolean>;
  /** Loads within `limit` ms; what is loaded later is taken away again. */
  load(slot: Slot, limit: number, work: () => Promise<Loaded>): Promise<void>;
  unload(slot: Slot): Promise<void>;
}

export function createSlotSteps(log: Pick<Log, 'error'>, isStopped: () => boolean): SlotSteps {
  async function attempt(slot: Slot, code: ReasonCode, work: () => Promise<void>): Promise<boolean> {
    if (isStopped()) return false;
    try {
      await work();
      return true;
    } catch (error) {
      slot.failure = asFailure(error, code);
      const { name } = slot.found;
      log.error(
        { err: (error as Error).cause ?? error, extension: name, code: slot.failure.code },
        `${name} does not load`,
      );
      return false;
    }
  }

  async function remove({ found }: Slot, loaded: Loaded): Promise<void> {
    try {
      await loaded.remove();
    } catch (error) {
      log.error({ err: error, extension: found.name }, `${found.name} was not taken away cleanly`);
    }
  }

  return {
    attempt,
    async load(slot, limit, work) {
      await attempt(slot, 'UNKNOWN', async () => {
        slot.loaded = await within(limit, 'REGISTRATION_FAILED', work, (late) => void remove(slot, late));
      });
    },
    async unload(slot) {
      const { loaded } = slot;
      delete slot.loaded;
      if (loaded) await remove(slot, loaded);
    },
  };
}

const asFailure = (error: unknown, code: ReasonCode): LoadFailure =>
  error instanceof LoadFailure
    ? error
    : new LoadFailure(code, error instanceof Error ? error.message : String(error), { cause: error });
