import type { MailDelivery, MailTransport, OutgoingMail, RefusedMailRecipient } from '../mail/contract.ts';
import { buildNodemailerMessage, MailDeliveryError, renderOneLine } from '../mail/library.ts';
import type { SesSettings } from './settings.ts';

/** Milliseconds of one request, and of one that only checks. */
const SEND_TIMEOUT = 60_000;
const VERIFY_TIMEOUT = 4500;
const CONNECT_TIMEOUT = 5000;

/** Recipients of one request; SES refuses one with more. */
const MAX_RECIPIENTS = 50;

/** Refusals of the message itself. Others are about the account, its limits or the credentials, and may pass. */
const ABOUT_MESSAGE = ['BadRequestException', 'MessageRejected'];
/** Answers to a request that is signed well. Its message is invalid on purpose, so that none is sent. */
const isSignedWell = (status: number): boolean => status < 500 && ![401, 403, 404, 429].includes(status);

interface SdkError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Delivers by the API of Amazon SES. The SDK is loaded with the first message. */
export function createSesTransport(settings: SesSettings): MailTransport {
  let opened: ReturnType<typeof openClient> | undefined;
  const open = () => {
    opened ??= openClient(settings);
    return opened;
  };
  return {
    async send(mail, signal) {
      const client = await open();
      return deliverInSlices(mail, (slice) => sendOnce(client, slice, signal));
    },
    async verify() {
      const { client, SendEmailCommand } = await open();
      try {
        const invalid = { Content: { Raw: { Data: Buffer.from('x') } }, FromEmailAddress: 'invalid@invalid' };
        await client.send(new SendEmailCommand(invalid), { requestTimeout: VERIFY_TIMEOUT });
      } catch (error) {
        const { name, message, $metadata } = error as SdkError;
        const status = $metadata?.httpStatusCode;
        if (status === undefined || !isSignedWell(status)) throw new Error(`SES: ${name}: ${message}`);
      }
    },
    async close() {
      (await opened)?.client.destroy();
    },
  };
}

/**
 * Sends a message with as many requests as its recipients need, and counts those of a request that failed as refused.
 * @throws MailDeliveryError where all requests failed; permanent where all of them are refusals of the message.
 */
async function deliverInSlices(
  mail: OutgoingMail,
  send: (mail: OutgoingMail) => Promise<string>,
): Promise<MailDelivery> {
  const ids: string[] = [];
  const refused: RefusedMailRecipient[] = [];
  const failures: MailDeliveryError[] = [];
  for (let at = 0; at < mail.recipients.length; at += MAX_RECIPIENTS) {
    const recipients = mail.recipients.slice(at, at + MAX_RECIPIENTS);
    try {
      ids.push(await send({ ...mail, recipients }));
    } catch (error) {
      if (!(error instanceof MailDeliveryError)) throw error;
      failures.push(error);
      const { permanent, message: reason } = error;
      refused.push(...recipients.map((address) => ({ address, permanent, reason })));
    }
  }
  const failure = failures.find(({ permanent }) => !permanent) ?? failures[0];
  if (failure && ids.length === 0) throw failure;
  return { response: renderOneLine(`accepted by SES as ${ids.join(', ')}`), refused };
}

/** Sends one request, and answers the id that SES has for the message. @throws MailDeliveryError */
async function sendOnce(
  { transporter }: Pick<Awaited<ReturnType<typeof openClient>>, 'transporter'>,
  mail: OutgoingMail,
  signal: AbortSignal,
): Promise<string> {
  try {
    signal.throwIfAborted();
    return (await transporter.sendMail(buildNodemailerMessage(mail))).response;
  } catch (error) {
    const { name, message } = error as SdkError;
    const permanent = ABOUT_MESSAGE.includes(name);
    throw new MailDeliveryError(`SES: ${name}: ${message}`, { permanent, cause: error });
  }
}

async function openClient(settings: SesSettings) {
  const [{ SESv2Client, SendEmailCommand }, { createTransport }] = await Promise.all([
    import('@aws-sdk/client-sesv2'),
    import('nodemailer'),
  ]);
  const client = new SESv2Client({
    ...settings,
    // The job tries again. The SDK would also repeat a request whose answer was lost, and so send twice.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT,
      requestTimeout: SEND_TIMEOUT,
      throwOnRequestTimeout: true,
    },
  });
  return { client, SendEmailCommand, transporter: createTransport({ SES: { sesClient: client, SendEmailCommand } }) };
}
