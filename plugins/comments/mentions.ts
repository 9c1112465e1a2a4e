import { type Caller, fail } from '#kernel';
import type { CallerProvider } from '../auth/contract.ts';
import type { FindReadableItem, ItemReference } from '../items/library.ts';
import type { NewNotification } from '../notifications/contract.ts';

/** `@` and the key of a user, anywhere in a text. */
const MENTION = /@([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?![0-9a-f-])/gi;
const MAX_MENTIONS = 100;

interface MentionDeps {
  readonly identity: Pick<CallerProvider, 'ofUsers'>;
  readonly findReadableItem: FindReadableItem;
}

/** Creates notices for those mentioned users that are active and may read the item. */
export type CreateMentionNotices = (text: string, commentedItem: ItemReference) => Promise<readonly NewNotification[]>;

export function createMentionNotices({ identity, findReadableItem }: MentionDeps): CreateMentionNotices {
  async function mayRead(caller: Caller, { collection, item }: ItemReference): Promise<boolean> {
    try {
      await findReadableItem(caller, collection, item);
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== 'FORBIDDEN') throw error;
      return false;
    }
  }

  return async (text, commentedItem) => {
    const userKeys = parseMentions(text);
    if (userKeys.length === 0) return [];
    const notices: NewNotification[] = [];
    for (const [recipient, caller] of await identity.ofUsers(userKeys)) {
      if (await mayRead(caller, commentedItem)) {
        notices.push({
          recipient,
          subject: `You were mentioned in ${commentedItem.collection}`,
          message: text,
          ...commentedItem,
        });
      }
    }
    return notices;
  };
}

/** Keys of the users that a text mentions, each once. @throws INVALID_PAYLOAD for more than MAX_MENTIONS. */
export function parseMentions(text: string): readonly string[] {
  const users = new Set([...text.matchAll(MENTION)].map(([, id]) => (id as string).toLowerCase()));
  if (users.size <= MAX_MENTIONS) return [...users];
  throw fail('INVALID_PAYLOAD', `A comment can mention at most ${MAX_MENTIONS} users.`, {
    field: 'comment',
    path: ['comment'],
  });
}
