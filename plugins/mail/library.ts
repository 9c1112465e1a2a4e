import type { OutgoingMail } from './contract.ts';

/** The check of an e-mail address that a client sends. */
export { assertEmailField } from './address.ts';
/** Links in mails: the pages that they lead to, and the check of URLs that clients send. */
export {
  assertUrlIsAllowed,
  buildLink,
  createLinkPages,
  type LinkPages,
  parsePublicUrl,
  type UrlAllowList,
} from './link-pages.ts';

/** An attempt that failed for all recipients. The message is one line. */
export class MailDeliveryError extends Error {
  /** Whether another attempt is useless. */
  readonly permanent: boolean;

  constructor(message: string, { permanent, cause }: { readonly permanent: boolean; readonly cause?: unknown }) {
    super(renderOneLine(message), { cause });
    this.name = 'MailDeliveryError';
    this.permanent = permanent;
  }
}

/** A reply of a server as one line without control characters, at most 500 characters. */
export const renderOneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 500);

/** The message for `nodemailer`, which reads no file and no address for it. */
export const buildNodemailerMessage = ({ messageId, from, to, cc, replyTo, recipients, ...content }: OutgoingMail) => ({
  ...content,
  messageId,
  from,
  to: [...to],
  cc: [...cc],
  ...(replyTo ? { replyTo } : {}),
  envelope: { from: from.address, to: [...recipients] },
  disableFileAccess: true,
  disableUrlAccess: true,
});
