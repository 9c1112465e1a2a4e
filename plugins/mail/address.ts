import { Failures, fail } from '#kernel';
import { MAIL_LIMITS } from './limits.ts';

/** A part before the `@` without quotes, comments or routes, which servers read in different ways. */
const LOCAL_PART = /^[^\s"(),:;<>@[\\\]\p{Cc}]+$/u;
/** A domain of labels, in letters of any script. */
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*)(?:\.[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*)*$/u;

/** Whether the text is one e-mail address without a name. */
export function isAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)];
  return (
    at > 0 &&
    text.length <= MAIL_LIMITS.address &&
    local.length <= MAIL_LIMITS.localPart &&
    LOCAL_PART.test(local) &&
    !local.startsWith('-') &&
    DOMAIN.test(domain)
  );
}

/**
 * Asserts that the `email` of a request is one address without a name: `x<ann@example.com>` would be another user with the mailbox of
 * `ann@example.com`.
 * @throws Failures of FAILED_VALIDATION
 */
export function assertEmailField(email: string): void {
  if (isAddress(email)) return;
  throw new Failures([
    fail('FAILED_VALIDATION', 'Validation failed for field "email": the value is not an e-mail address.', {
      field: 'email',
      path: [],
      type: 'email',
    }),
  ]);
}
