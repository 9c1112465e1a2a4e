import { type Caller, type EventsApi, Failure } from '#kernel';
import type { InterProcessLock } from '../cluster/contract.ts';
import type { QueuedJob } from '../queue/contract.ts';
import { PermanentJobError } from '../queue/library.ts';
import type { MailAcceptances } from './acceptances.ts';
import { composeMail, messageIdOf } from './compose-mail.ts';
import type {
  MailAddress,
  MailDelivery,
  MailMessage,
  MailTransport,
  OutgoingMail,
  RefusedMailRecipient,
} from './contract.ts';
import { MailDeliveryError, renderOneLine } from './library.ts';
import { STOP_GRACE } from './limits.ts';
import type { MailJobData, MailJobResult } from './mail-job.ts';
import { toComparableAddress } from './parse-addresses.ts';
import { type ParsedMailMessage, parseMailMessage } from './parse-message.ts';
import type { RenderMailContent } from './render-message.ts';

export interface MailDeliveryDeps {
  readonly from: MailAddress;
  readonly render: RenderMailContent;
  readonly transport: () => MailTransport;
  readonly acceptances: MailAcceptances;
  readonly lock: Pick<InterProcessLock, 'attempt'>;
  readonly events: Pick<EventsApi, 'filter' | 'hasListeners'>;
  readonly systemCaller: () => Caller;
  /** Waits for a place of RATE_LIMITER_EMAIL_*: undefined where the message may be sent now, else when its next job runs. */
  readonly waitForTurn: (
    id: string,
    job: Pick<QueuedJob<MailJobData>, 'data' | 'attempt'>,
  ) => Promise<Date | undefined>;
}

/** The event before a message is sent: filters may change it, or answer `false` or null so that it is not sent. */
export const SEND_EVENT = 'email.send';

/**
 * Creates what a job of the queue runs. An acceptance is recorded as soon as the transport has it, so that a repeated job does not
 * send the message to the same recipient again.
 * @throws PermanentJobError where another attempt is useless; any other error is temporary.
 */
export const createMailDelivery =
  (deps: MailDeliveryDeps) =>
  async (job: QueuedJob<MailJobData>): Promise<MailJobResult> => {
    const id = job.data.id ?? job.id;
    // A process that lost its job to another one may still be sending.
    const done = await deps.lock.attempt(`mail ${id}`, () => deliver(deps, id, job));
    if (done) return done.value;
    throw new Error('another process is sending this message');
  };

async function deliver(deps: MailDeliveryDeps, id: string, job: QueuedJob<MailJobData>): Promise<MailJobResult> {
  const { data, signal } = job;
  const accepted = await deps.acceptances.find(id);
  // A message that some recipients have already is not counted again.
  const turn = accepted.size > 0 ? undefined : await deps.waitForTurn(id, job);
  if (turn) return { outcome: 'waits for its turn', until: turn.toISOString() };
  const message = await askListeners(deps, data.message);
  if (!message) return { outcome: 'rejected by a listener' };
  const parsed = await asPermanent(parseMailMessage(message));
  const missing = parsed.recipients.filter((one) => !accepted.has(toComparableAddress(one)));
  if (missing.length === 0) return { outcome: 'accepted', messageId: messageIdOf(id, deps.from) };
  return sendToMissing(deps, id, parsed, missing, signal);
}

async function sendToMissing(
  deps: MailDeliveryDeps,
  id: string,
  parsed: ParsedMailMessage,
  missing: readonly string[],
  signal: AbortSignal,
): Promise<MailJobResult> {
  // A template that cannot be rendered may be corrected before the last attempt.
  const mail = await composeMail(deps, id, parsed, missing);
  const { response, refused } = await sendUntilStopped(deps.transport(), mail, signal);
  const isRefused = (address: string) => refused.some((one) => toComparableAddress(one.address) === address);
  const accepted = missing.map(toComparableAddress).filter((one) => !isRefused(one));
  if (accepted.length > 0) await deps.acceptances.add(id, accepted, response);
  if (refused.length > 0) throw createRefusal(refused, accepted.length);
  return { outcome: 'accepted', messageId: mail.messageId, response };
}

/** A stopping service lets a running attempt end: the server may be about to accept the message. */
async function sendUntilStopped(
  transport: MailTransport,
  mail: OutgoingMail,
  signal: AbortSignal,
): Promise<MailDelivery> {
  signal.throwIfAborted();
  const stop = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  const onAbort = () => {
    grace = setTimeout(() => stop.abort(signal.reason), STOP_GRACE);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await transport.send(mail, stop.signal);
  } catch (error) {
    if (error instanceof MailDeliveryError && error.permanent)
      throw new PermanentJobError(error.message, { cause: error });
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearTimeout(grace);
  }
}

/** @throws PermanentJobError where a listener rejects the message; its unexpected errors are temporary. */
async function askListeners(
  { events, systemCaller }: MailDeliveryDeps,
  message: MailMessage,
): Promise<MailMessage | undefined> {
  if (!events.hasListeners('filter', SEND_EVENT)) return message;
  const filtered = events.filter([SEND_EVENT], message as MailMessage | false | null, { caller: systemCaller() });
  return (await asPermanent(filtered)) || undefined;
}

/** Errors that are the fault of the message end the job; those of the service and of the database do not. */
async function asPermanent<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Failure && error.status < 500 && error.code !== 'REQUESTS_EXCEEDED')
      throw new PermanentJobError(renderOneLine(error.message), { cause: error });
    throw error;
  }
}

/** The error of a job some of whose recipients were refused: temporary where another attempt may succeed for one of them. */
function createRefusal(refused: readonly RefusedMailRecipient[], accepted: number): Error {
  const reasons = refused.map(({ address, reason }) => `${address}: ${reason}`).join('; ');
  const text = `${accepted} recipients accepted, ${refused.length} refused. ${reasons}`.slice(0, 2000);
  return refused.every(({ permanent }) => permanent) ? new PermanentJobError(text) : new Error(text);
}
