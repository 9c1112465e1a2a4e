import { fail } from '#kernel';
import type { HealthCheck } from '../server/contract.ts';

/** Bytes that one part of a body costs besides its content: the buffer object and its entry in the list of parts. */
const PART_OVERHEAD_BYTES = 64;
const RETRY_AFTER_SECONDS = 5;
/** The health check warns above this share of the limit, of one address or of all. */
const WARN_SHARE = 0.8;
/** Share of the limit that one address may hold, so that other addresses always have room. */
const ADDRESS_SHARE = 0.5;
/** An address that holds this share of the limit may begin no more large bodies: those it has begun still grow. */
const BEGIN_SHARE = 0.25;
/**
 * A body of at most so many bytes may always begin; most are smaller. Node reads as many with the first part of any
 * body.
 */
const SMALL_BODY_BYTES = 65_536;

/** The memory that one unfinished body takes. */
export interface BodyReservation {
  /** Counts one part of `length` bytes. */
  add(length: number): void;
  /** Gives the memory back: the body has arrived, or the service waits for it no longer. */
  release(): void;
}

interface UnfinishedBody {
  readonly address: string;
  readonly refuse: (reason: Error) => void;
  /** Bytes that count: those that have arrived, or those of the expected first part where that is more. */
  bytes: number;
  arrived: number;
}

/**
 * Counts the memory of all bodies that have not arrived completely, and bounds their sum. One address may hold half of
 * it. An address with more than its half loses its largest body; over the limit the address with the most bytes does.
 * So a client with many unfinished bodies loses its own before those of other clients. An address that holds a quarter
 * may begin no more large bodies: a body that is refused later costs its memory until the garbage collector frees it.
 */
export class UnfinishedBodyMemoryBudget {
  readonly limit: number;
  readonly #bodies = new Set<UnfinishedBody>();
  readonly #bytesByAddress = new Map<string, number>();
  #usedBytes = 0;

  /** `limit` in bytes. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes that all unfinished bodies hold now. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Whether the service is about to refuse bodies: any body, or those of the address that holds most. */
  get isNearLimit(): boolean {
    const bound = this.limit * WARN_SHARE;
    return this.#usedBytes > bound || this.#bytesOf(this.#largestAddress()) > bound * ADDRESS_SHARE;
  }

  /**
   * Call it before reading a body. `length` is its Content-Length in bytes, Infinity without one.
   * @throws SERVICE_UNAVAILABLE for a large body of an address that already holds a quarter of the memory.
   */
  assertAvailable(address: string | null, length: number): void {
    if (length > SMALL_BODY_BYTES && this.#bytesOf(address ?? '') >= this.limit * BEGIN_SHARE)
      throw createMemoryFailure();
  }

  /**
   * Reserves memory for one body of `length` bytes. `refuse` is called at most once, with SERVICE_UNAVAILABLE, when the
   * body loses its memory to other bodies. Its first part counts before it arrives: otherwise many bodies that begin at
   * once would each find the memory empty.
   */
  reserve(address: string | null, refuse: (reason: Error) => void, length = 0): BodyReservation {
    const entry: UnfinishedBody = { address: address ?? '', refuse, bytes: 0, arrived: 0 };
    this.#bodies.add(entry);
    const hold = (bytes: number) => {
      this.#count(entry, bytes);
      while (this.#bytesOf(entry.address) > this.limit * ADDRESS_SHARE) this.#refuseLargest(entry.address);
      while (this.#usedBytes > this.limit) this.#refuseLargest(this.#largestAddress());
    };
    hold(Math.min(length, SMALL_BODY_BYTES));
    return {
      add: (part) => {
        if (!this.#bodies.has(entry)) return;
        entry.arrived += part + PART_OVERHEAD_BYTES;
        if (entry.arrived > entry.bytes) hold(entry.arrived - entry.bytes);
      },
      release: () => this.#drop(entry),
    };
  }

  #count(entry: UnfinishedBody, bytes: number): void {
    entry.bytes += bytes;
    this.#usedBytes += bytes;
    const sum = this.#bytesOf(entry.address) + bytes;
    if (sum > 0) this.#bytesByAddress.set(entry.address, sum);
    else this.#bytesByAddress.delete(entry.address);
  }

  #drop(entry: UnfinishedBody): void {
    if (this.#bodies.delete(entry)) this.#count(entry, -entry.bytes);
  }

  #bytesOf(address: string): number {
    return this.#bytesByAddress.get(address) ?? 0;
  }

  #largestAddress(): string {
    const [first] = [...this.#bytesByAddress].sort(([, a], [, b]) => b - a);
    return first?.[0] ?? '';
  }

  #refuseLargest(address: string): void {
    let largest: UnfinishedBody | undefined;
    for (const entry of this.#bodies) {
      if (entry.address === address && entry.bytes > (largest?.bytes ?? 0)) largest = entry;
    }
    if (!largest) throw new Error('memory of bodies is counted, but no body holds it');
    this.#drop(largest);
    largest.refuse(createMemoryFailure());
  }
}

const createMemoryFailure = () =>
  fail('SERVICE_UNAVAILABLE', 'Too many requests are being received. Try again later.', {
    service: 'http',
    retryAfter: RETRY_AFTER_SECONDS,
  });

/** Health check: reports the bytes that unfinished bodies hold, and warns before bodies are refused. */
export const createBodyMemoryHealthCheck = (memory: UnfinishedBodyMemoryBudget): HealthCheck => ({
  name: 'http:unfinishedBodies',
  componentType: 'system',
  async check() {
    return { value: memory.usedBytes, unit: 'bytes', status: memory.isNearLimit ? 'warn' : 'ok' };
  },
});
