import { LRUCache } from 'lru-cache';
import { toClientNetworkKey } from '../outbound/library.ts';

/** Addresses whose keys are remembered. */
const REMEMBERED_ADDRESSES = 5000;

/**
 * The key by which an address is counted: itself, or the /64 network of an IPv6 address. Keys are remembered, since it takes longer
 * to parse an IPv6 address than to count it.
 */
export function createClientKeyLookup(): (address: string | null) => string {
  const keys = new LRUCache<string, string>({ max: REMEMBERED_ADDRESSES, memoMethod: toClientNetworkKey });
  return (address) => keys.memo(address ?? '');
}
