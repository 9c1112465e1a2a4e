import type { PoolShareHolder } from './contract.ts';

/** A caller, or the values of a caller that a statement needs. */
interface ShareOwner {
  readonly user: string | null;
  readonly owner?: string | undefined;
  readonly ip?: string | null | undefined;
  readonly admin?: boolean | undefined;
}

/** The client is the user, whatever its address; without a user the plugin, else the address. */
export const createPoolShareHolder = (collection: string, { user, owner, ip, admin }: ShareOwner): PoolShareHolder => ({
  collection,
  client: user ?? owner ?? ip ?? 'public',
  rank: admin ? 'service' : 'request',
});
