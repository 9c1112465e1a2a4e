import { AsyncLocalStorage } from 'node:async_hooks';

/** Something that an operation would have done outside of the database, or that the service cannot undo. */
export interface HeldEffect {
  /** The type of the operation. */
  readonly type: string;
  /** The key of the operation in its flow. */
  readonly step: string;
  /** What would have been done, such as the method and the address of a request. */
  readonly effect: unknown;
}

/** A run that changes nothing: its writes are rolled back, and its other effects are held and listed. */
export class Trial {
  readonly effects: HeldEffect[] = [];
}

const storage = new AsyncLocalStorage<Trial>();

/** The trial that the running code belongs to; undefined in a real run. */
export const currentTrial = (): Trial | undefined => storage.getStore();

export const runInTrial = <T>(trial: Trial, work: () => Promise<T>): Promise<T> => storage.run(trial, work);
