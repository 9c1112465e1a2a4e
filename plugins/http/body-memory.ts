import { fail } from '#kernel';
import type { HealthCheck } from '../server/contract.ts';

/** Bytes that one part of a body costs beside its own: the string and the node by which it is joined to the rest. */
const PART_COST = 64;
/** Seconds. */
const RETRY_AFTER = 5;
/** Share of the limit above which the health check warns. */
const FULL = 0.8;
/** Share of the limit above which the address that holds most begins no more large bodies. */
const CROWDED = 0.5;
/** Bytes of a body that is always begun: most are smaller. */
const SMALL = 65_536;

/** The memory that one unfinished body takes. */
export interface HeldBody {
  /** Counts one part of `length` bytes. */
  add(length: number): void;
  /** The body is there, or is not waited for any longer. */
  release(): void;
}

interface Entry {
  readonly address: string;
  readonly refuse: (reason: Error) => void;
  bytes: number;
}

/**
 * Counts the memory of all bodies that have not arrived completely and bounds their sum. Beyond the limit the largest body of the
 * address with the most bytes is refused, so that a client with many unfinished bodies loses its own before those of other clients.
 * From half of the limit on that address begins no more large ones: a body that is taken in and dropped later costs as much memory
 * until it is collected.
 */
export class BodyMemory {
  readonly limit: number;
  readonly #entries = new Set<Entry>();
  readonly #sums = new Map<string, number>();
  #held = 0;

  /** `limit` in bytes. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes at the moment. */
  get held(): number {
    return this.#held;
  }

  /**
   * Asked before anything of a body is read; `length`: bytes that its header states, Infinity where it states none.
   * @throws SERVICE_UNAVAILABLE where the bodies of this address take most of the memory already
   */
  admit(address: string | null, length: number): void {
    if (this.#held < this.limit * CROWDED || length <= SMALL) return;
    const own = this.#sums.get(address ?? '') ?? 0;
    if (own > 0 && own >= Math.max(...this.#sums.values())) throw refusal();
  }

  /** `refuse` is called at most once, with SERVICE_UNAVAILABLE, where the body loses its memory to others. */
  open(address: string | null, refuse: (reason: Error) => void): HeldBody {
    const entry: Entry = { address: address ?? '', refuse, bytes: 0 };
    this.#entries.add(entry);
    return {
      add: (length) => {
        if (!this.#entries.has(entry)) return;
        this.#count(entry, length + PART_COST);
        while (this.#held > this.limit) this.#refuseLargest();
      },
      release: () => this.#drop(entry),
    };
  }

  #count(entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    this.#held += bytes;
    const sum = (this.#sums.get(entry.address) ?? 0) + bytes;
    if (sum > 0) this.#sums.set(entry.address, sum);
    else this.#sums.delete(entry.address);
  }

  #drop(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#count(entry, -entry.bytes);
  }

  #refuseLargest(): void {
    const most = Math.max(...this.#sums.values());
    let largest: Entry | undefined;
    for (const entry of this.#entries) {
      if (this.#sums.get(entry.address) === most && entry.bytes > (largest?.bytes ?? 0)) largest = entry;
    }
    if (!largest) throw new Error('bytes are held and no body holds them');
    this.#drop(largest);
    largest.refuse(refusal());
  }
}

const refusal = () =>
  fail('SERVICE_UNAVAILABLE', 'Too many requests are being received. Try again later.', {
    service: 'http',
    retryAfter: RETRY_AFTER,
  });

/** Tells the bytes at the moment, and warns where bodies are refused soon. */
export const memoryCheck = (memory: BodyMemory): HealthCheck => ({
  name: 'http:unfinishedBodies',
  componentType: 'system',
  async check() {
    const { held, limit } = memory;
    return { value: held, unit: 'bytes', status: held > limit * FULL ? 'warn' : 'ok' };
  },
});
