import type { AnswerKeys } from '../request/answer-key.ts';

/** A stored answer: the bytes of its body and what its headers need. */
export interface CachedAnswer {
  readonly body: Buffer;
  /** Whether `body` is compressed by gzip. */
  readonly isCompressed: boolean;
  readonly type: string;
  readonly vary: string;
  /** Whether only the service may keep the answer: `no-store` for clients and proxies. */
  readonly isNoStore: boolean;
  /** Entity tag; absent for answers to POST. */
  readonly etag?: string;
  /** Unix time in milliseconds. */
  readonly expiresAt: number;
  /** Names of events: the answer is used only while they have no listener. */
  readonly events: readonly string[];
}

/** The client of a request: the memory store limits what one client may push out. */
export interface AnswerClient {
  /** The user, else the address. */
  readonly id: string;
  readonly isSignedIn: boolean;
}

/** The moment before a read, as the store counts: an answer that is stored with it counts as stale after any later change. */
export type StorePosition = number | string;

/** What a store has for a request. */
export interface FoundAnswer {
  readonly answer: CachedAnswer | undefined;
  /** For the answer that is made instead; undefined where the store takes none now. */
  readonly position: StorePosition | undefined;
}

/** An answer to store. */
export interface AnswerToStore {
  readonly key: string;
  readonly answer: CachedAnswer;
  readonly position: StorePosition;
  /** Oids of the tables whose changes make the answer stale. */
  readonly relations: readonly number[];
  readonly client: AnswerClient;
}

/** Where answers are kept. No store answers anything that was read before the last announced change of its tables. */
export interface AnswerStore {
  find(keys: AnswerKeys, client: AnswerClient): FoundAnswer | Promise<FoundAnswer>;
  put(answer: AnswerToStore): void | Promise<void>;
  /** A table has changed. */
  change(relation: number): void;
  /** Everything may have changed. */
  clear(): void;
  /** The time that the store takes, in milliseconds, for the health check. @throws where it does not answer */
  measure(): Promise<number>;
  stop(): Promise<void>;
}
