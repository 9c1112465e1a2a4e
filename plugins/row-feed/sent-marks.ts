import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { AnnouncedChange } from './contract.ts';

/** Milliseconds for which a mark may be on its way. */
const LONGEST_WAIT = 1000;

/** Marks that this process sends and that come back to it behind the messages before them. */
export class SentMarks {
  readonly #onArrival = new Map<string, () => void>();

  /** Takes each change that arrives. */
  receive({ event, id }: AnnouncedChange): void {
    if (event === 'mark') this.#onArrival.get(id)?.();
  }

  /** Calls `send` with an id. Where a mark with it was sent, resolves when it has arrived, or after a second: then a gap follows. */
  async arrival<T extends { readonly hasMarked: boolean }>(send: (id: string) => Promise<T>): Promise<T> {
    const id = randomUUID();
    const arrived = new Promise<void>((resolve) => this.#onArrival.set(id, resolve));
    try {
      const result = await send(id);
      if (result.hasMarked) await Promise.race([arrived, pause(LONGEST_WAIT, undefined, { ref: false })]);
      return result;
    } finally {
      this.#onArrival.delete(id);
    }
  }
}
