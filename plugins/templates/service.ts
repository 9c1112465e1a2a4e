import { type Failure, fail } from '#kernel';
import type { WorkerOutcome, WorkerPool } from '../workers/contract.ts';
import type { Delimiters, Templates } from './contract.ts';
import { DELIMITER, LIMITS, PROCESS } from './limits.ts';
import type { Job, Reply } from './messages.ts';

const invalid = (reason: string): Failure => fail('INVALID_PAYLOAD', `The template cannot be rendered: ${reason}.`);
const unavailable = (why: string): Failure => fail('SERVICE_UNAVAILABLE', `templates cannot be rendered now: ${why}`);

/** Everything that can be said without a process is said without one. */
export const createTemplates = (pool: Pick<WorkerPool, 'run'>): Templates => ({
  async render(template, data = {}, delimiters = {}) {
    if (template.length > LIMITS.parse) throw invalid(`it is longer than ${LIMITS.parse} characters`);
    const text = JSON.stringify(data);
    if (Buffer.byteLength(text) > LIMITS.data) throw invalid(`its data is longer than ${LIMITS.data} bytes`);
    const job: Job = { template, data: text, delimiters: checked(delimiters) };
    return textOf(await pool.run(job, { timeout: PROCESS.deadline }));
  },
});

function textOf(outcome: WorkerOutcome): string {
  if (outcome === 'timeout') throw invalid('it takes too long');
  if (outcome === 'full') throw unavailable('too many wait');
  if (outcome === 'stopped') throw unavailable('the service stops');
  if (outcome === 'unstarted') throw unavailable('no process');
  // Its heap is the one thing that ends a process in the middle of a template.
  if (outcome === 'crashed' || !isReply(outcome.reply)) throw invalid('it needs too much memory');
  if ('reason' in outcome.reply) throw invalid(outcome.reply.reason);
  return outcome.reply.text;
}

const isReply = (reply: unknown): reply is Reply =>
  typeof reply === 'object' &&
  reply !== null &&
  (('text' in reply && typeof reply.text === 'string') || ('reason' in reply && typeof reply.reason === 'string'));

function checked({ tagLeft, tagRight, outputLeft, outputRight }: Delimiters): Delimiters {
  const given = { tagLeft, tagRight, outputLeft, outputRight };
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && (value.length < 1 || value.length > DELIMITER))
      throw invalid(`${name} has 1 to ${DELIMITER} characters`);
  }
  return given as Delimiters;
}
