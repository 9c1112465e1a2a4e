import type { Share } from './contract.ts';

/** What is known of who asks: a caller, or the values that a statement takes of one. */
interface ShareOwner {
  readonly user: string | null;
  readonly owner?: string | undefined;
  readonly ip?: string | null | undefined;
  readonly admin?: boolean | undefined;
}

/** A user is one client, wherever its requests come from; without a user it is a plugin, or an address. */
export const shareOf = (collection: string, { user, owner, ip, admin }: ShareOwner): Share => ({
  collection,
  client: user ?? owner ?? ip ?? 'public',
  rank: admin ? 'service' : 'request',
});
