import { service } from '#kernel';

/** Mutual exclusion between processes on one database. */
export interface Lock {
  /** Waits for the lock of this name, runs `work`, lets go; a process that dies lets go too. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` where nobody holds the lock, at once; undefined where somebody does, of this process or another. For many short
   * locks: all of a process share one connection. Where that is lost, others may get the lock while `work` still runs.
   */
  attempt<T>(name: string, work: () => Promise<T>): Promise<{ readonly value: T } | undefined>;
}

/** Which processes on one database are alive: known to the database itself, so that a crash needs no time to be noticed. */
export interface Presence {
  /** Of this process, a uuid. */
  readonly id: string;
  /** Those of `ids` that have gone, in a unit of work or outside of one. */
  gone(ids: readonly string[]): Promise<readonly string[]>;
}

/** Messages between processes on one database, this one included. */
export interface Bus {
  /** Inside a unit of work the message leaves at commit. Payload: JSON of at most 7 kB. */
  publish(channel: string, payload: unknown): Promise<void>;
  subscribe(channel: string, handle: (payload: unknown) => void): void;
  /** Called after the listening connection was lost and is back: messages may have been missed. */
  onGap(handle: () => void): void;
}

export const lock = service<Lock>('lock', { version: '1.0.0' });
export const presence = service<Presence>('presence', { version: '1.0.0' });
export const bus = service<Bus>('bus', { version: '1.0.0' });

export { announcing } from './announcing.ts';
export { notifySql } from './notify-sql.ts';
