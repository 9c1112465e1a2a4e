import { fail } from '#kernel';
import type { HealthCheck } from '../server/contract.ts';

/** Bytes that one part of a body costs beside its own: the string and the node by which it is joined to the rest. */
const PART_COST = 64;
/** Seconds. */
const RETRY_AFTER = 5;
/** Share of a limit, of one address or of all, above which the health check warns. */
const FULL = 0.8;
/** Share of the limit that one address may hold: so there is room for others at once. */
const MAX_SHARE = 0.5;
/** Share of the limit from which an address begins no more large bodies: those it has begun will still grow. */
const BEGIN_SHARE = 0.25;
/** Bytes of a body that is always begun: most are smaller. The first part that a connection reads of any body has as many. */
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

  /** Whether bodies are refused soon: those of the address that holds most, or any. */
  get isCrowded(): boolean {
    const bound = this.limit * FULL;
    return this.#held > bound || this.#sumOf(this.#largestAddress()) > bound * MAX_SHARE;
  }

  /**
   * Asked before anything of a body is read; `length`: bytes that its header states, Infinity where it states none.
   * @throws SERVICE_UNAVAILABLE where the bodies of this address take a quarter of the memory already
   */
  admit(address: string | null, length: number): void {
    if (length > SMALL && this.#sumOf(address ?? '') >= this.limit * BEGIN_SHARE) throw refusal();
  }

  /**
   * `refuse` is called at most once, with SERVICE_UNAVAILABLE, where the body loses its memory to others. The first part of a body
   * of `length` bytes counts before it arrives: of many that begin at once each would find the memory empty.
   */
  open(address: string | null, refuse: (reason: Error) => void, length = 0): HeldBody {
    const entry: Entry = { address: address ?? '', refuse, bytes: 0, arrived: 0 };
    this.#entries.add(entry);
    const hold = (bytes: number) => {
      this.#count(entry, bytes);
      while (this.#sumOf(entry.address) > this.limit * MAX_SHARE) this.#refuseLargest(entry.address);
      while (this.#held > this.limit) this.#refuseLargest(this.#largestAddress());
    };
    hold(Math.min(length, SMALL));
    return {
      add: (part) => {
        if (!this.#entries.has(entry)) return;
        entry.arrived += part + PART_COST;
        if (entry.arrived > entry.bytes) hold(entry.arrived - entry.bytes);
      },
      release: () => this.#drop(entry),
    };
  }

  #count(entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    this.#held += bytes;
    const sum = this.#sumOf(entry.address) + bytes;
    if (sum > 0) this.#sums.set(entry.address, sum);
    else this.#sums.delete(entry.address);
  }

  #drop(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#count(entry, -entry.bytes);
  }

  #sumOf(address: string): number {
    return this.#sums.get(address) ?? 0;
  }

  #largestAddress(): string {
    const [first] = [...this.#sums].sort(([, a], [, b]) => b - a);
    return first?.[0] ?? '';
  }

  #refuseLargest(address: string): void {
    let largest: Entry | undefined;
    for (const entry of this.#entries) {
      if (entry.address === address && entry.bytes > (largest?.bytes ?? 0)) largest = entry;
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
    return { value: memory.held, unit: 'bytes', status: memory.isCrowded ? 'warn' : 'ok' };
  },
});
