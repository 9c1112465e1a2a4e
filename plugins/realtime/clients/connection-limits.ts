import type { RealtimeSettings } from '../settings.ts';

/** One counted connection. */
export interface CountedConnection {
  /** Moves the connection out of, or back into, those that have not authenticated. False where the public has too many. */
  setPublic(isPublic: boolean): boolean;
  release(): void;
}

/** Counts connections by transport and by address. */
export interface ConnectionLimits {
  /** Undefined where a limit is reached. */
  take(transport: string, limit: number | undefined, address: string | null): CountedConnection | undefined;
  readonly count: number;
}

/** The part of the connections of the public that one address may have. */
const ADDRESS_SHARE_OF_PUBLIC = 0.25;

export function createConnectionLimits({
  all,
  address: perAddress,
  public: ofPublic,
}: RealtimeSettings['connections']) {
  const counts = new Map<string, number>();
  const countOf = (key: string): number => counts.get(key) ?? 0;
  const add = (key: string, by: 1 | -1): void => {
    const count = countOf(key) + by;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };
  const publicPerAddress = Math.max(1, Math.floor(ofPublic * ADDRESS_SHARE_OF_PUBLIC));

  return {
    get count() {
      return countOf('all');
    },
    take(transport, limit, client) {
      const address = `address ${client}`;
      const publicAddress = `public ${client}`;
      const kind = `transport ${transport}`;
      const hasPublicRoom = () => countOf('public') < ofPublic && countOf(publicAddress) < publicPerAddress;
      if (countOf('all') >= all || countOf(address) >= perAddress || !hasPublicRoom()) return undefined;
      if (limit !== undefined && countOf(kind) >= limit) return undefined;
      let isPublic = true;
      let isHeld = true;
      for (const key of ['all', address, kind, 'public', publicAddress]) add(key, 1);
      return {
        setPublic(next) {
          if (next === isPublic || !isHeld) return true;
          if (next && !hasPublicRoom()) return false;
          isPublic = next;
          for (const key of ['public', publicAddress]) add(key, next ? 1 : -1);
          return true;
        },
        release() {
          if (!isHeld) return;
          isHeld = false;
          for (const key of ['all', address, kind, ...(isPublic ? ['public', publicAddress] : [])]) add(key, -1);
        },
      };
    },
  } satisfies ConnectionLimits;
}
