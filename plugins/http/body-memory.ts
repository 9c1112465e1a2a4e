import { fail } from '#kernel';
import type { HealthCheck } from '../server/contract.ts';

/** Bytes that one part of a body costs beside its own: the string and the node by which it is joined to the rest. */
const PART_OVERHEAD_BYTES = 64;
/** Seconds. */
const RETRY_AFTER_SECONDS = 5;
/** Share of a limit, of one address or of all, above which the health check warns. */
const WARN_SHARE = 0.8;
/** Share of the limit that one address may hold: so there is room for others at once. */
const ADDRESS_SHARE = 0.5;
/** Share of the limit from which an address begins no more large bodies: those it has begun will still grow. */
const BEGIN_SHARE = 0.25;
/** Bytes of a body that is always begun: most are smaller. The first part that a connection reads of any body has as many. */
const SMALL_BODY_BYTES = 65_536;

/** The memory that one unfinished body takes. */
export interface BodyReservation {
  /** Counts one part of `length` bytes. */
  add(length: number): void;
  /** The body is there, or is not waited for any longer. */
  release(): void;
}

interface UnfinishedBody {
  readonly address: string;
  readonly refuse: (reason: Error) => void;
  /** What counts: what has arrived, or what is expected at once where that is more. */
  bytes: number;
  arrived: number;
}

/**
 * Counts the memory of all bodies that have not arrived completely and bounds their sum, and that of one address to half of it.
 * Beyond its half an address loses its largest body, and beyond the limit the address with the most bytes does: so a client with many
 * unfinished bodies loses its own before those of other clients. With a quarter taken it begins no more large ones: a body that is
 * taken in and dropped later costs as much memory until it is collected.
 */
export class BodyMemory {
  readonly limit: number;
  readonly #bodies = new Set<UnfinishedBody>();
  readonly #bytesByAddress = new Map<string, number>();
  #usedBytes = 0;

  /** `limit` in bytes. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes at the moment. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Whether bodies are refused soon: those of the address that holds most, or any. */
  get isNearLimit(): boolean {
    const bound = this.limit * WARN_SHARE;
    return this.#usedBytes > bound || this.#bytesOf(this.#largestAddress()) > bound * ADDRESS_SHARE;
  }

  /**
   * Asked before anything of a body is read; `length`: bytes that its header states, Infinity where it states none.
   * @throws SERVICE_UNAVAILABLE where the bodies of this address take a quarter of the memory already
   */
  assertAvailable(address: string | null, length: number): void {
    if (length > SMALL_BODY_BYTES && this.#bytesOf(address ?? '') >= this.limit * BEGIN_SHARE) throw createMemoryFailure();
  }

  /**
   * `refuse` is called at most once, with SERVICE_UNAVAILABLE, where the body loses its memory to others. The first part of a body
   * of `length` bytes counts before it arrives: of many that begin at once each would find the memory empty.
   */
  open(address: string | null, refuse: (reason: Error) => void, length = 0): BodyReservation {
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
    if (!largest) throw new Error('bytes are held and no body holds them');
    this.#drop(largest);
    largest.refuse(createMemoryFailure());
  }
}

const createMemoryFailure = () =>
  fail('SERVICE_UNAVAILABLE', 'Too many requests are being received. Try again later.', {
    service: 'http',
    retryAfter: RETRY_AFTER_SECONDS,
  });

/** Tells the bytes at the moment, and warns where bodies are refused soon. */
export const createMemoryHealthCheck = (memory: BodyMemory): HealthCheck => ({
  name: 'http:unfinishedBodies',
  componentType: 'system',
  async check() {
    return { value: memory.usedBytes, unit: 'bytes', status: memory.isNearLimit ? 'warn' : 'ok' };
  },
});
