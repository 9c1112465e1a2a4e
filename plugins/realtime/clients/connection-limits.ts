import { toClientNetworkKey } from '../../outbound/library.ts';
import type { RealtimeSettings } from '../settings.ts';

/** One counted connection. */
export interface CountedConnection {
  /**
   * Says whether the client is the public or has authenticated. False where the public has too many connections: the connection counts as
   * before then.
   */
  setPublic(isPublic: boolean): boolean;
  release(): void;
}

/** A connection that is about to be counted. */
export interface NewConnection {
  readonly transport: string;
  /** Connections of the transport. */
  readonly limit: number | undefined;
  readonly address: string | null;
  /**
   * Whether the client has presented a credential that is not checked yet. Such connections are counted apart until `setPublic`, so that
   * clients with valid credentials find room while the public has none.
   */
  readonly hasCredential: boolean;
}

/** Counts connections by transport and by address. The /64 network of an IPv6 address is one address. */
export interface ConnectionLimits {
  /** Undefined where a limit is reached. */
  take(connection: NewConnection): CountedConnection | undefined;
  readonly count: number;
}

/** Connections of one kind have a limit, and one address has a part of it. */
type LimitedKind = 'public' | 'unchecked';

/** The part of the connections of the public that one address may have. */
const ADDRESS_SHARE_OF_PUBLIC = 0.25;

export function createConnectionLimits({
  all,
  address: perAddress,
  public: ofPublic,
}: RealtimeSettings['connections']) {
  const counts = new Map<string, number>();
  const countOf = (key: string): number => counts.get(key) ?? 0;
  const add = (keys: readonly string[], by: 1 | -1): void => {
    for (const key of keys) {
      const count = countOf(key) + by;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    }
  };
  const publicPerAddress = Math.max(1, Math.floor(ofPublic * ADDRESS_SHARE_OF_PUBLIC));

  return {
    get count() {
      return countOf('all');
    },
    take({ transport, limit, address, hasCredential }) {
      const network = toClientNetworkKey(address);
      const keys = ['all', `address ${network}`, `transport ${transport}`] as const;
      const [ofAll, ofAddress, ofTransport] = keys;
      const keysOf = (kind: LimitedKind | undefined) => (kind ? [kind, `${kind} ${network}`] : []);
      const hasRoom = (kind: LimitedKind) =>
        countOf(kind) < ofPublic && countOf(`${kind} ${network}`) < publicPerAddress;
      let kind: LimitedKind | undefined = hasCredential ? 'unchecked' : 'public';
      if (countOf(ofAll) >= all || countOf(ofAddress) >= perAddress || !hasRoom(kind)) return undefined;
      if (limit !== undefined && countOf(ofTransport) >= limit) return undefined;
      let isHeld = true;
      add([...keys, ...keysOf(kind)], 1);
      return {
        setPublic(isPublic) {
          const next = isPublic ? 'public' : undefined;
          if (next === kind || !isHeld) return true;
          if (next && !hasRoom(next)) return false;
          add(keysOf(kind), -1);
          add(keysOf(next), 1);
          kind = next;
          return true;
        },
        release() {
          if (!isHeld) return;
          isHeld = false;
          add([...keys, ...keysOf(kind)], -1);
        },
      };
    },
  } satisfies ConnectionLimits;
}
