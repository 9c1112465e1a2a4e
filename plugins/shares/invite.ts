import { createHash } from 'node:crypto';
import { type Caller, fail } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { MailService } from '../mail/contract.ts';
import { parsePublicUrl } from '../mail/library.ts';
import { SHARES_COLLECTION } from './collections.ts';
import type { WindowLimit, WindowLimits } from './limits.ts';

/** Addresses in one request. */
export const MAX_ADDRESSES = 50;
const HOUR = 60 * 60;
/** Addresses that one user invites. */
const INVITATIONS_OF_USER: WindowLimit = { points: 100, seconds: HOUR };
/** Invitations that one address gets, from all users. */
const INVITATIONS_OF_ADDRESS: WindowLimit = { points: 10, seconds: HOUR };

/** One bare address, so that none passes for several. */
const ADDRESS = /^[^\s<>(),;:"@\\]{1,64}@[^\s<>(),;:"@\\]{1,190}$/;

interface Deps {
  readonly db: Pick<Db, 'transaction'>;
  readonly items: Pick<ItemsEngine, 'readOne'>;
  readonly limits: WindowLimits;
  readonly mail: Pick<MailService, 'send'>;
  readonly publicUrl: string;
}

/**
 * Mails the link of a share to each address, after the commit.
 * @throws FORBIDDEN for a caller without a user, and for a share that it may not read; INVALID_PAYLOAD; REQUESTS_EXCEEDED;
 *   INVALID_CONFIG where PUBLIC_URL is no absolute address
 */
export type InviteToShare = (caller: Caller, share: string, emails: readonly string[]) => Promise<void>;

export function createInviteToShare({ db, items, limits, mail, publicUrl }: Deps): InviteToShare {
  async function take(key: string, limit: WindowLimit, count: number): Promise<void> {
    const end = await limits.take(key, limit, count);
    if (!end) return;
    throw fail('REQUESTS_EXCEEDED', 'Too many invitations. Try again later.', {
      limit: limit.points,
      reset: end.toISOString(),
    });
  }

  return async (caller, share, emails) => {
    if (caller.user === null) throw fail('FORBIDDEN', 'an invitation needs a user');
    const { data } = await items.readOne(caller, SHARES_COLLECTION, share, { fields: ['id', 'name'] });
    const { name = null } = JSON.parse(data ?? '{}') as { name?: string | null };
    const addresses = parseAddresses(emails);
    const url = linkOf(publicUrl, share.toLowerCase());
    await limits.removeEnded(null);
    await db.transaction(async () => {
      await take(`invitations of ${caller.user}`, INVITATIONS_OF_USER, addresses.length);
      for (const to of addresses) {
        await take(`invitations to ${hashAddress(to)}`, INVITATIONS_OF_ADDRESS, 1);
        await mail.send({
          to,
          subject: 'Something is shared with you',
          template: { name: 'share', data: { url, name } },
        });
      }
    });
  };
}

function parseAddresses(emails: readonly string[]): readonly string[] {
  const wrong = emails.find((one) => !ADDRESS.test(one));
  if (wrong !== undefined)
    throw fail('INVALID_PAYLOAD', '"emails" has a text that is no address', { path: ['emails'] });
  // In one order, so that concurrent invitations do not wait for each other in a circle.
  return [...new Set(emails.map((one) => one.toLowerCase()))].sort();
}

/** The table of limits is no list of the people who were invited. */
const hashAddress = (address: string): string => createHash('sha256').update(address).digest('base64url');

function linkOf(publicUrl: string, share: string): string {
  const root = parsePublicUrl(publicUrl);
  if (root === null)
    throw fail('INVALID_CONFIG', 'PUBLIC_URL must be an absolute address, so that mail can contain links');
  return `${root}/admin/share/${share}`;
}
