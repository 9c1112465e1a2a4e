import type { Log } from '#kernel';
import { type LoadedExtension, LoadFailure, type ReasonCode } from '../extension-types.ts';
import { withDeadline } from './deadline.ts';
import type { ExtensionLoadSlot } from './extension-load-state.ts';

/** What a load does with one slot. No step throws: a failure is kept in the slot. */
export interface ExtensionSlotLoader {
  /**
   * Runs `work`. An error is logged as a whole, and the slot keeps what may be shown of it. Answers false if `work` failed or did
   * not run.
   */
  attempt(slot: ExtensionLoadSlot, code: ReasonCode, work: () => Promise<void>): Promise<boolean>;
  /** Loads within `limit` milliseconds; an extension that finishes later is unloaded at once. */
  load(slot: ExtensionLoadSlot, limit: number, work: () => Promise<LoadedExtension>): Promise<void>;
  unload(slot: ExtensionLoadSlot): Promise<void>;
}

export function createExtensionSlotLoader(log: Pick<Log, 'error'>, isStopped: () => boolean): ExtensionSlotLoader {
  async function attempt(slot: ExtensionLoadSlot, code: ReasonCode, work: () => Promise<void>): Promise<boolean> {
    if (isStopped()) return false;
    try {
      await work();
      return true;
    } catch (error) {
      slot.failure = toLoadFailure(error, code);
      const { name } = slot.extension;
      log.error(
        { err: (error as Error).cause ?? error, extension: name, code: slot.failure.code },
        `${name} does not load`,
      );
      return false;
    }
  }

  async function remove({ extension }: ExtensionLoadSlot, loaded: LoadedExtension): Promise<void> {
    try {
      await loaded.remove();
    } catch (error) {
      log.error({ err: error, extension: extension.name }, `${extension.name} was not taken away cleanly`);
    }
  }

  return {
    attempt,
    async load(slot, limit, work) {
      await attempt(slot, 'UNKNOWN', async () => {
        slot.loaded = await withDeadline(limit, 'REGISTRATION_FAILED', work, (late) => void remove(slot, late));
      });
    },
    async unload(slot) {
      const { loaded } = slot;
      delete slot.loaded;
      if (loaded) await remove(slot, loaded);
    },
  };
}

const toLoadFailure = (error: unknown, code: ReasonCode): LoadFailure =>
  error instanceof LoadFailure
    ? error
    : new LoadFailure(code, error instanceof Error ? error.message : String(error), { cause: error });
