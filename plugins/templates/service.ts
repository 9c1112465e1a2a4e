import { type Failure, fail } from '#kernel';
import type { WorkerJobOutcome, WorkerPool } from '../workers/contract.ts';
import type { TemplateDelimiters, TemplateRenderOptions, TemplateService } from './contract.ts';
import { MAX_DELIMITER_LENGTH, RENDER_PROCESS_LIMITS, TEMPLATE_LIMITS } from './limits.ts';
import type { TemplateJob, TemplateWorkerReply } from './worker-messages.ts';

const createInvalidFailure = (reason: string): Failure =>
  fail('INVALID_PAYLOAD', `The template cannot be rendered: ${reason}.`);
const createUnavailableFailure = (why: string): Failure =>
  fail('SERVICE_UNAVAILABLE', `templates cannot be rendered now: ${why}`);

/** Creates the service `templates`. Limits that need no process are checked before one is used. */
export const createTemplateService = (pool: Pick<WorkerPool, 'run'>): TemplateService => ({
  async render(template, data = {}, options: TemplateRenderOptions = {}) {
    if (template.length > TEMPLATE_LIMITS.parse)
      throw createInvalidFailure(`it is longer than ${TEMPLATE_LIMITS.parse} characters`);
    const text = JSON.stringify(data);
    if (Buffer.byteLength(text) > TEMPLATE_LIMITS.data)
      throw createInvalidFailure(`its data is longer than ${TEMPLATE_LIMITS.data} bytes`);
    const { escapeHtml = false, ...delimiters } = options;
    const job: TemplateJob = { template, data: text, options: { ...assertDelimiters(delimiters), escapeHtml } };
    return readOutcome(await pool.run(job, { timeout: RENDER_PROCESS_LIMITS.deadline }));
  },
});

function readOutcome(outcome: WorkerJobOutcome): string {
  if (outcome === 'timeout') throw createInvalidFailure('it takes too long');
  if (outcome === 'full') throw createUnavailableFailure('too many templates are waiting');
  if (outcome === 'stopped') throw createUnavailableFailure('the service stops');
  if (outcome === 'unstarted') throw createUnavailableFailure('no process could be started');
  // Only the heap limit of a process ends it in the middle of a template.
  if (outcome === 'crashed' || !isReply(outcome.reply)) throw createInvalidFailure('it needs too much memory');
  if ('reason' in outcome.reply) throw createInvalidFailure(outcome.reply.reason);
  return outcome.reply.text;
}

const isReply = (reply: unknown): reply is TemplateWorkerReply =>
  typeof reply === 'object' &&
  reply !== null &&
  (('text' in reply && typeof reply.text === 'string') || ('reason' in reply && typeof reply.reason === 'string'));

function assertDelimiters({ tagLeft, tagRight, outputLeft, outputRight }: TemplateDelimiters): TemplateDelimiters {
  const values = { tagLeft, tagRight, outputLeft, outputRight };
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && (value.length < 1 || value.length > MAX_DELIMITER_LENGTH))
      throw createInvalidFailure(`${name} has 1 to ${MAX_DELIMITER_LENGTH} characters`);
  }
  return values as TemplateDelimiters;
}
