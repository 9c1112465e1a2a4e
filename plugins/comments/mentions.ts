import { type Caller, fail } from '#kernel';
import type { Access } from '../access/contract.ts';
import type { Items } from '../items/contract.ts';
import type { Notice } from '../notifications/contract.ts';
import type { FindSubject, Subject } from './subject.ts';

/** `@` and the key of a user, anywhere in a text. */
const MENTION = /@([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?![0-9a-f-])/gi;
const MAX_MENTIONS = 100;

interface Deps {
  readonly items: Pick<Items, 'rows'>;
  readonly access: Pick<Access, 'role'>;
  /** Sees all users. */
  readonly system: () => Caller;
  readonly findSubject: FindSubject;
}

/** Notices for those of the mentioned users who may read the item. */
export type NoticesOf = (text: string, subject: Subject) => Promise<readonly Notice[]>;

export function createNoticesOf({ items, access, system, findSubject }: Deps): NoticesOf {
  async function asCaller({ id, role }: User): Promise<Caller> {
    const flags = await access.role(role);
    const admin = flags?.admin ?? false;
    return { user: id, role, admin, app: admin || (flags?.app ?? false) };
  }

  async function mayRead(user: User, { collection, item }: Subject): Promise<boolean> {
    try {
      await findSubject(await asCaller(user), collection, item);
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== 'FORBIDDEN') throw error;
      return false;
    }
  }

  return async (text, subject) => {
    const mentioned = mentionedIn(text);
    if (mentioned.length === 0) return [];
    const users = await items.rows<User>(system(), 'platform_users', {
      fields: ['id', 'role'],
      filter: { id: { _in: mentioned }, status: { _eq: 'active' } },
    });
    const notices: Notice[] = [];
    for (const user of users) {
      if (await mayRead(user, subject)) {
        notices.push({
          recipient: user.id,
          subject: `You were mentioned in ${subject.collection}`,
          message: text,
          ...subject,
        });
      }
    }
    return notices;
  };
}

interface User {
  readonly id: string;
  readonly role: string | null;
}

/** Keys of the users whom a text mentions, each once; INVALID_PAYLOAD for more than a comment is meant for. */
export function mentionedIn(text: string): readonly string[] {
  const users = new Set([...text.matchAll(MENTION)].map(([, id]) => (id as string).toLowerCase()));
  if (users.size <= MAX_MENTIONS) return [...users];
  throw fail('INVALID_PAYLOAD', `A comment can mention at most ${MAX_MENTIONS} users.`, {
    field: 'comment',
    path: ['comment'],
  });
}
