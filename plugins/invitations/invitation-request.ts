import { fail } from '#kernel';
import { PUBLIC_ROLE_ID } from '../access/contract.ts';
import { isUuid } from '../database/library.ts';
import { parseTextFields } from '../http/library.ts';
import { assertEmailField } from '../mail/library.ts';

/** Whom a request invites. */
export interface InvitationRequest {
  /** Each address once, in one order for all requests, so that two of them do not wait for each other. */
  readonly emails: readonly string[];
  readonly role: string;
  readonly inviteUrl: string | undefined;
}

const MAX_ADDRESSES = 100;
/** Characters of `platform_users.email`. */
const MAX_EMAIL = 128;
const FIELDS = { required: { role: 36 }, optional: { invite_url: 2000 } } as const;

const invalid = (field: string, expected: string) =>
  fail('INVALID_PAYLOAD', `"${field}" must be ${expected}.`, { field, path: [field] });

/** Parses the body of an invitation. @throws INVALID_PAYLOAD, Failures of FAILED_VALIDATION */
export function parseInvitationRequest(body: unknown): InvitationRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw fail('INVALID_PAYLOAD', 'the body must be an object');
  const { email, ...others } = body as Record<string, unknown>;
  const { role, invite_url } = parseTextFields(others, FIELDS);
  if (!isUuid(role)) throw invalid('role', 'the key of a role');
  if (role === PUBLIC_ROLE_ID) throw invalid('role', 'another one than the Public role, which no user has');
  return { emails: parseEmails(email), role: role.toLowerCase(), inviteUrl: invite_url };
}

function parseEmails(email: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(email) ? email : [email];
  if (all.length === 0 || all.length > MAX_ADDRESSES)
    throw invalid('email', `an e-mail address, or a list of 1 to ${MAX_ADDRESSES}`);
  const texts = all.map((one) => {
    if (typeof one !== 'string' || one.length > MAX_EMAIL || one.includes('\0'))
      throw invalid('email', `a text of at most ${MAX_EMAIL} characters, or a list of such texts`);
    assertEmailField(one);
    return one;
  });
  // Of several spellings of one address the first counts.
  const byAddress = new Map(texts.toReversed().map((one) => [one.toLowerCase(), one]));
  return [...byAddress.keys()].sort().map((one) => byAddress.get(one) as string);
}
