import type { MailTransport } from '../mail/contract.ts';
import { buildNodemailerMessage, MailDeliveryError, renderOneLine } from '../mail/library.ts';
import type { SesSettings } from './settings.ts';

/** Milliseconds of one request, and of one that only checks. */
const SEND_TIMEOUT = 60_000;
const VERIFY_TIMEOUT = 4500;
const CONNECT_TIMEOUT = 5000;

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
      const { transporter } = await open();
      signal.throwIfAborted();
      try {
        const { response } = await transporter.sendMail(buildNodemailerMessage(mail));
        return { response: `accepted by SES as ${renderOneLine(response)}`, refused: [] };
      } catch (error) {
        const { name, message } = error as SdkError;
        const permanent = ABOUT_MESSAGE.includes(name);
        throw new MailDeliveryError(`SES: ${name}: ${message}`, { permanent, cause: error });
      }
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
