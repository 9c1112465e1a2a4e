export interface SeededRandom {
  /** A number from 0 up to, not including, 1. */
  next(): number;
  /** A whole number from 0 up to, not including, `limit`. */
  upTo(limit: number): number;
  one<T>(list: readonly T[]): T;
  chance(share: number): boolean;
}

/** Creates a generator of pseudo-random numbers, the same for the same seed, so that failures are reproducible. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const upTo = (limit: number) => Math.floor(next() * limit);
  return { next, upTo, one: (list) => list[upTo(list.length)] as never, chance: (share) => next() < share };
}
