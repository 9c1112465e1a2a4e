import { type Failure, fail } from '#kernel';
import { isAddress } from './address.ts';
import type { MailAddress } from './contract.ts';
import { MAIL_LIMITS } from './limits.ts';

/** Characters that end a line of a header, or hide text in one. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

const createFailure = (field: string, why: string): Failure =>
  fail('INVALID_PAYLOAD', `"${field}" ${why}.`, { field, path: [field] });

/** @throws INVALID_PAYLOAD for a line break or another control character, with which a text could add headers. */
export function assertHeaderText(field: string, text: unknown, limit: number): asserts text is string {
  if (typeof text !== 'string') throw createFailure(field, 'must be a text');
  if (text.length > limit) throw createFailure(field, `must have at most ${limit} characters`);
  if (CONTROL.test(text)) throw createFailure(field, 'must not have line breaks or other control characters');
}

/** The domain of an address in its ASCII form and lower case, for comparisons. */
export const domainOf = (address: string): string => {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return URL.parse(`http://${domain}`)?.hostname ?? domain.toLowerCase();
};

/** An address by which recipients are compared: the domain has no upper case. */
export const toComparableAddress = (address: string): string =>
  `${address.slice(0, address.lastIndexOf('@'))}@${domainOf(address)}`;

/**
 * Parses `ann@example.com` and `Ann <ann@example.com>`.
 * @throws INVALID_PAYLOAD for several addresses, groups, comments, quoted parts before the `@`, and line breaks.
 */
export async function parseAddress(field: string, text: unknown): Promise<MailAddress> {
  assertHeaderText(field, text, MAIL_LIMITS.name + MAIL_LIMITS.address + 10);
  // Loaded with the first message: a service that sends none needs no library.
  const { default: parseAddressField } = await import('nodemailer/lib/addressparser');
  const [one, ...more] = parseAddressField(text);
  const isSingle = one?.address !== undefined && more.length === 0 && (text.match(/</g)?.length ?? 0) <= 1;
  if (!isSingle || !isAddress(one.address) || (!text.includes('<') && text.trim() !== one.address))
    throw createFailure(field, `must be e-mail addresses such as ann@example.com or "Ann <ann@example.com>"`);
  assertHeaderText(field, one.name ?? '', MAIL_LIMITS.name);
  return { name: one.name ?? '', address: one.address };
}

/** Parses one address or a list of them. @throws the errors of `parseAddress`. */
export async function parseAddresses(field: string, value: unknown): Promise<readonly MailAddress[]> {
  if (value === undefined || value === null) return [];
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (texts.length > MAIL_LIMITS.recipients)
    throw createFailure(field, `must have at most ${MAIL_LIMITS.recipients} addresses`);
  return Promise.all(texts.map((one) => parseAddress(field, one)));
}
