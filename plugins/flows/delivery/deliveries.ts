import { fail, type Log } from '#kernel';
import type { OutboundService } from '../../outbound/contract.ts';
import type { JobQueue, QueueApi, QueuedJob } from '../../queue/contract.ts';
import { PermanentJobError } from '../../queue/library.ts';
import type { SecretCipher } from '../../secrets/contract.ts';
import type { FlowOfOperation } from '../contract.ts';
import type { RequestLimits } from '../operations/request.ts';
import type { RequestMessage } from '../operations/request-options.ts';
import type { StepPolicy } from '../run/step-policy.ts';
import { createJobRoom } from '../state/job-room.ts';
import { signatureHeadersOf } from './webhook-signature.ts';

export const DELIVERIES_QUEUE = 'flow-deliveries';
/** What a sealed message is bound to. */
const SEALED_KIND = 'request of a flow';
/** Attempts over some nine hours: 5 seconds before the first retry, and twice as long each time, up to an hour. */
const RETRIES = 17;
/** Unfinished deliveries of one service: further ones fail, so that a receiver that is down does not fill the database. */
const MAX_UNFINISHED = 100_000;

/** A request that waits. It is sealed where SECRETS_ENCRYPTION_KEY is set, since it may hold secrets. */
interface WaitingRequest {
  readonly flow: string;
  readonly run: string;
  readonly step: string;
  /** Milliseconds of one attempt. */
  readonly timeout: number;
  readonly message?: RequestMessage;
  readonly sealed?: string;
}

interface Deps {
  readonly queue: Pick<QueueApi, 'define'>;
  readonly outbound: Pick<OutboundService, 'send'>;
  readonly secrets: SecretCipher;
  readonly limits: RequestLimits;
  readonly concurrency: number;
  readonly log: Log;
}

export interface Deliveries {
  /**
   * Adds the job that sends the request once the open unit of work has committed. Answers its id.
   * @throws SERVICE_UNAVAILABLE where too many requests wait; INVALID_PAYLOAD for one of more than 1 MB
   */
  add(message: RequestMessage, flow: FlowOfOperation, policy: StepPolicy): Promise<string>;
  stop(): Promise<void>;
}

/** Requests whose answer no flow waits for: jobs, sent after the commit and again until they are accepted. */
export function createDeliveries({ queue, outbound, secrets, limits, concurrency, log }: Deps): Deliveries {
  function messageOf({ sealed, message }: WaitingRequest): RequestMessage {
    if (sealed === undefined) return message as RequestMessage;
    const text = secrets.open(SEALED_KIND, sealed);
    if (text === undefined) throw new PermanentJobError('the request was sealed with another SECRETS_ENCRYPTION_KEY');
    return JSON.parse(text);
  }

  async function deliver({ data, signal }: QueuedJob<WaitingRequest>): Promise<{ readonly status: number }> {
    const { method, url, headers, body, secret } = messageOf(data);
    const about = `${method} ${new URL(url).origin} for the operation ${data.step} of the flow ${data.flow}`;
    const { status } = await outbound
      .send({
        owner: '@tenon/flows',
        method,
        url: new URL(url),
        // Signed anew for each attempt: receivers refuse old timestamps.
        headers: { ...headers, ...signatureHeadersOf({ secret, body } as RequestMessage, `${data.run}-${data.step}`) },
        ...(body === undefined ? {} : { body }),
        timeout: data.timeout,
        maxBytes: limits.maxBytes,
        signal,
      })
      .catch((error) => {
        throw new Error(`${about}: ${(error as Error).message}`);
      });
    if (status === 410) throw new PermanentJobError(`${about}: the receiver wants no more (410)`);
    if (status < 200 || status > 299) throw new Error(`${about}: answered ${status}`);
    return { status };
  }

  const jobs: JobQueue<WaitingRequest> = queue.define<WaitingRequest>({
    name: DELIVERIES_QUEUE,
    retries: RETRIES,
    concurrency,
    log,
    run: deliver,
  });
  const room = createJobRoom(jobs);

  return {
    async add(message, { id: flow, run, step }, { retries, backoff, timeout = limits.timeout }) {
      if (!(await room.has(MAX_UNFINISHED)))
        throw fail('SERVICE_UNAVAILABLE', 'too many requests of flows wait for their receivers');
      const content = secrets.available()
        ? { sealed: secrets.seal(SEALED_KIND, JSON.stringify(message)) }
        : { message };
      const job = { flow, run, step, timeout: Math.min(timeout, limits.timeout), ...content };
      const id = await jobs.add(job, {
        group: flow,
        ...(retries === undefined ? {} : { retries }),
        ...(backoff === undefined ? {} : { retryDelay: Math.ceil(backoff / 1000) }),
      });
      return id as string;
    },
    stop: () => jobs.stop(),
  };
}
