import type { HashCost } from './worker-messages.ts';

const HASH_FORM =
  /^\$argon2(?:id|i|d)\$v=\d{2}\$([mtp]=\d{1,8},[mtp]=\d{1,8},[mtp]=\d{1,8})\$[\w+/]{11,88}\$[\w+/]{16,88}$/;
/** How much more than a hash of today's cost a foreign one may take. */
const MAX_FACTOR = 4;

/** Whether the text is an Argon2 hash whose memory, lanes, and memory times passes are at most `MAX_FACTOR` times the cost. */
export function hasAcceptableCost(text: string, { memory, time, parallelism }: HashCost): boolean {
  const pairs =
    HASH_FORM.exec(text)?.[1]
      ?.split(',')
      .map((pair) => pair.split('=')) ?? [];
  const { m, t, p } = Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
  // A name that stands twice leaves another one out.
  if (m === undefined || t === undefined || p === undefined) return false;
  return m <= MAX_FACTOR * memory && m * t <= MAX_FACTOR * memory * time && p <= MAX_FACTOR * parallelism;
}
