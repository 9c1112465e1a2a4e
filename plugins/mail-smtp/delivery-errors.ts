import type { MailDelivery, RefusedMailRecipient } from '../mail/contract.ts';
import { MailDeliveryError, renderOneLine } from '../mail/library.ts';

/** What `nodemailer` sets on its errors. */
interface SmtpError extends Error {
  readonly code?: string;
  readonly responseCode?: number;
  readonly response?: string;
  /** The recipient of an error in `rejectedErrors`. */
  readonly recipient?: string;
  readonly rejectedErrors?: readonly SmtpError[];
}

/** 503 says that the session is in a wrong state, and nothing about the message. */
const isPermanentReply = (code: number): boolean => code >= 500 && code < 600 && code !== 503;

/** Errors about the envelope or the message, which come before or with a reply of the server to them. */
const ABOUT_MESSAGE = ['EENVELOPE', 'EMESSAGE'];

const renderReason = ({ response, message }: SmtpError): string => renderOneLine(response || message);

/** Recipients that the server refused, by the errors of its replies. */
export const listRefusedRecipients = (errors: readonly SmtpError[] = []): readonly RefusedMailRecipient[] =>
  errors.flatMap((error) =>
    error.recipient === undefined
      ? []
      : [
          {
            address: error.recipient,
            permanent: isPermanentReply(error.responseCode ?? 0),
            reason: renderReason(error),
          },
        ],
  );

/**
 * The outcome of an attempt that failed: a delivery where the server refused each recipient by itself.
 * @throws MailDeliveryError for all others. A refused sign-in, a lost connection and an expired time limit are temporary.
 */
export function readFailedDelivery(error: unknown): MailDelivery {
  const { code = '', responseCode, rejectedErrors } = error as SmtpError;
  const refused = listRefusedRecipients(rejectedErrors);
  if (refused.length > 0) return { response: '', refused };
  const isAboutMessage = ABOUT_MESSAGE.includes(code);
  const permanent = isAboutMessage && (responseCode === undefined || isPermanentReply(responseCode));
  throw new MailDeliveryError(renderReason(error as SmtpError), { permanent, cause: error });
}
