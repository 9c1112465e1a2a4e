import type { Caller } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';

export interface AssetCachingConfig {
  /** Milliseconds. */
  readonly ASSETS_CACHE_TTL: number;
  readonly ASSETS_CACHE_REVALIDATE: boolean;
}

/** How caches may keep a response. */
export interface AssetCachePolicy {
  /** Value of `Cache-Control`. */
  readonly control: string;
  /** Whether every client gets the same response. */
  readonly shared: boolean;
}

export type AssetCachePolicyFor = (caller: Caller) => Promise<AssetCachePolicy>;

/** Responses to the Public role are the same for every client, so shared caches may keep them. */
export function createAssetCachePolicyFor(
  { ASSETS_CACHE_TTL, ASSETS_CACHE_REVALIDATE }: AssetCachingConfig,
  access: Pick<AccessControl, 'role'>,
): AssetCachePolicyFor {
  const maxAge = ASSETS_CACHE_REVALIDATE
    ? 'max-age=0, must-revalidate'
    : `max-age=${Math.floor(ASSETS_CACHE_TTL / 1000)}`;
  const publicCaching: AssetCachePolicy = { control: `public, ${maxAge}`, shared: true };
  const privateCaching: AssetCachePolicy = { control: `private, ${maxAge}`, shared: false };
  return async ({ user, role, admin, share }) => {
    if (user !== null || role !== null || admin || share) return privateCaching;
    // With an IP access list, not every client has the Public role.
    return (await access.role(null))?.addresses ? privateCaching : publicCaching;
  };
}
