import type { Caller } from '#kernel';
import type { Access } from '../../access/contract.ts';

export interface CachingConfig {
  /** Milliseconds. */
  readonly ASSETS_CACHE_TTL: number;
  readonly ASSETS_CACHE_REVALIDATE: boolean;
}

/** Who may keep an answer, and how long. */
export interface Caching {
  readonly control: string;
  /** Anybody at all gets the same answer. */
  readonly shared: boolean;
}

export type CachingFor = (caller: Caller) => Promise<Caching>;

/** What the Public role may see everybody may, so caches between us and the client may keep it for others. */
export function createCaching(
  { ASSETS_CACHE_TTL, ASSETS_CACHE_REVALIDATE }: CachingConfig,
  access: Pick<Access, 'role'>,
): CachingFor {
  const life = ASSETS_CACHE_REVALIDATE
    ? 'max-age=0, must-revalidate'
    : `max-age=${Math.floor(ASSETS_CACHE_TTL / 1000)}`;
  const everybody: Caching = { control: `public, ${life}`, shared: true };
  const oneself: Caching = { control: `private, ${life}`, shared: false };
  return async ({ user, role, admin, share }) => {
    if (user !== null || role !== null || admin || share) return oneself;
    // Bound to addresses, the Public role is not everybody.
    return (await access.role(null))?.addresses ? oneself : everybody;
  };
}
