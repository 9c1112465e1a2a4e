import type { MailDelivery, MailTransport, OutgoingMail } from '../mail/contract.ts';
import { buildNodemailerMessage, renderOneLine } from '../mail/library.ts';
import { listRefusedRecipients, readFailedDelivery } from './delivery-errors.ts';
import type { SmtpServer } from './settings.ts';
import { DELIVERY_TIME_LIMITS, type SmtpTimeLimits, VERIFY_TIME_LIMITS } from './time-limits.ts';
import { verifySmtpServer } from './verify.ts';

interface Options {
  /** Keeps connections for further messages, for `POOL_IDLE` at most. */
  readonly pool: boolean;
  readonly delivery?: SmtpTimeLimits;
  readonly verify?: SmtpTimeLimits;
}

/** Connections of a pool, and messages after which one is replaced. */
const POOL = { maxConnections: 3, maxMessages: 100 } as const;

/** Delivers by SMTP. The library is loaded, and a connection opened, with the first message. */
export function createSmtpTransport(
  server: SmtpServer,
  { pool, delivery: limits = DELIVERY_TIME_LIMITS, verify = VERIFY_TIME_LIMITS }: Options,
): MailTransport {
  let opened: ReturnType<typeof open> | undefined;
  const open = () => openTransporter(server, pool, limits);
  return {
    async send(mail, signal) {
      opened ??= open();
      const transporter = await opened;
      return deliver(transporter, mail, AbortSignal.any([signal, AbortSignal.timeout(limits.total)]));
    },
    verify: () => verifySmtpServer(server, verify),
    reach: () => verifySmtpServer({ ...server, auth: undefined }, verify),
    async close() {
      // Running deliveries end by themselves: the server may be about to accept their messages.
      (await opened)?.close();
    },
  };
}

async function openTransporter(server: SmtpServer, pool: boolean, limits: SmtpTimeLimits) {
  const { createTransport } = await import('nodemailer');
  const options = {
    ...server,
    connectionTimeout: limits.connect,
    greetingTimeout: limits.greeting,
    socketTimeout: limits.idle,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return pool ? createTransport({ ...options, ...POOL, pool: true }) : createTransport(options);
}

async function deliver(
  transporter: Awaited<ReturnType<typeof openTransporter>>,
  mail: OutgoingMail,
  signal: AbortSignal,
): Promise<MailDelivery> {
  try {
    const info = await transporter.sendMail({ ...buildNodemailerMessage(mail), signal });
    return { response: renderOneLine(info.response), refused: listRefusedRecipients(info.rejectedErrors) };
  } catch (error) {
    return readFailedDelivery(error);
  }
}
