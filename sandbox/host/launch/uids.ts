import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** User ids, one for each living child, so that limits count per child and children cannot signal each other. */
export interface UidPool {
  take(): number;
  free(uid: number): void;
}

/**
 * Ids that distributions, containers and directory services do not use (systemd documents the range as unused). A
 * service picks 64 of them at random, since process ids repeat over containers of one machine.
 */
const UNUSED_RANGE = { first: 0x70000000, last: 0x7fffffff };
/**
 * The range inside of a user namespace with the usual 65 536 ids: Debian keeps these ids for services that register
 * one.
 */
const NAMESPACE_RANGE = { first: 60_000, last: 64_999 };
const POOL_SIZE = 64;

/** Creates a pool of unused user ids; null where this user namespace does not map enough of them. */
export function createUidPool(map = readUidMap()): UidPool | null {
  const range = [UNUSED_RANGE, NAMESPACE_RANGE].find(({ first, last }) => isMapped(map, first, last));
  if (range === undefined) return null;
  const base = randomInt(range.first, range.last - POOL_SIZE + 1);
  const taken = new Set<number>();
  return {
    take() {
      let uid = base;
      while (taken.has(uid)) uid += 1;
      taken.add(uid);
      return uid;
    },
    free: (uid) => void taken.delete(uid),
  };
}

const isMapped = (map: string, first: number, last: number) =>
  map
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .some(([inside = 0, , count = 0]) => inside <= first && last < inside + count);

function readUidMap(): string {
  try {
    return readFileSync('/proc/self/uid_map', 'utf8');
  } catch {
    return '';
  }
}
