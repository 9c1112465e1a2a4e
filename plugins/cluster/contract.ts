import { service } from '#kernel';

/** Mutual exclusion between processes on one database. */
export interface InterProcessLock {
  /**
   * Waits for the lock of this name, runs `work`, releases it; the lock of a process that dies is released as well. A holder that
   * takes its own lock again does not wait.
   * @throws what `work` throws, and the error of the driver where the database is not reached.
   */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` at once where the lock is free; undefined while this process or another one holds it. For many short locks: all of a
   * process share one connection. Where that is lost, another process may get the lock while `work` still runs.
   * @throws what `work` throws, and SERVICE_UNAVAILABLE while the shared connection is lost.
   */
  attempt<T>(name: string, work: () => Promise<T>): Promise<{ readonly value: T } | undefined>;
  /**
   * Whether work by `run` of this name goes on in any process, and has its lock.
   * @throws SERVICE_UNAVAILABLE where the database is not reached.
   */
  isHeld(name: string): Promise<boolean>;
}

/** Which processes on one database are alive. The database knows it by their connections, so a crash is visible at once. */
export interface ProcessPresence {
  /** The id of this process, a uuid. */
  readonly id: string;
  /**
   * The ids among `ids` of processes that are no longer alive. May be called inside a unit of work and outside of one.
   * @throws SERVICE_UNAVAILABLE where the database is not reached.
   */
  findDead(ids: readonly string[]): Promise<readonly string[]>;
  /**
   * Live processes beside this one that are not among `ids`: since when they are connected (ISO 8601), and from which address, null
   * for one on the database's machine.
   * @throws SERVICE_UNAVAILABLE where the database is not reached.
   */
  findOthers(ids: readonly string[]): Promise<readonly { readonly since: string; readonly address: string | null }[]>;
}

/** Messages between processes on one database, this one included. */
export interface InterProcessBus {
  /**
   * Sends a message to all processes; inside a unit of work it leaves at commit. `payload`: JSON of at most 7 kB.
   * @throws INTERNAL_SERVER_ERROR for a larger message.
   */
  publish(channel: string, payload: unknown): Promise<void>;
  /** Calls `handle` with each message of the channel, those of this process included, until the service stops. */
  subscribe(channel: string, handle: (payload: unknown) => void): void;
  /** Calls `handle` when the listening connection breaks: no message arrives until `onReconnect`. */
  onLost(handle: () => void): void;
  /** Calls `handle` when the listening connection is back: messages may have been missed. */
  onReconnect(handle: () => void): void;
  /**
   * Resolves when every live process has handled the messages of all that was committed before the call, or after
   * `BUS_CONFIRMATION_TIMEOUT`: for an answer that says that a right was taken away. Calls at the same time share one round of
   * messages; a process that is alone sends none. Inside of a unit of work: `db.answerAfter(bus.waitForConfirmation)`.
   */
  waitForConfirmation(): Promise<void>;
}

/** For work that only one process may do at a time. */
export const lock = service<InterProcessLock>('lock', { version: '1.0.0' });

/** For plugins that clean up after processes that ended. */
export const presence = service<ProcessPresence>('presence', { version: '1.0.0' });

/** For plugins that announce changes to all processes. */
export const bus = service<InterProcessBus>('bus', { version: '1.0.0' });

/** A value that was read for a cache. */
export interface CacheCandidate<T> {
  readonly value: T;
  /** False where the value is for its own caller only and is not kept: for example what an open transaction sees of its own changes. */
  readonly cacheable: boolean;
}

/** Options of a cache: its channel, its size and how a value is read. */
export interface AnnouncedCacheOptions<T> {
  readonly bus: Pick<InterProcessBus, 'subscribe' | 'onLost' | 'onReconnect'>;
  /**
   * The bus channel. Every message on it empties the cache; triggers of `createChangeNotificationMigration` send one for each change.
   */
  readonly channel: string;
  /** Number of keys that are kept; a further key replaces the oldest one. */
  readonly max: number;
  /** Reads the value of a key. Concurrent calls for one key share one read. */
  readonly read: (key: string) => Promise<CacheCandidate<T>>;
  /** Runs whenever the cache, or one of its keys, is emptied. */
  readonly onForget?: () => void;
}

/**
 * Values in memory until the database announces a change: a message on the channel empties the cache, and so does a loss of the
 * listening connection. A value whose read began before a change is never kept after it.
 */
export interface AnnouncedCache<T> {
  /**
   * The cached value, by one map lookup, or the result of `read`.
   * @throws what `read` throws; errors are not cached.
   */
  get(key: string): Promise<T>;
  /**
   * Forgets one key, or all without one, in this process. For a writer whose own next request must see its change before the message
   * arrives.
   */
  forget(key?: string): void;
}

/** How long a change waits for other processes to confirm it, in milliseconds. */
export const BUS_CONFIRMATION_TIMEOUT = 2000;
