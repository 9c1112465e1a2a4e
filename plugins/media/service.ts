import { open, rm } from 'node:fs/promises';
import type { WorkerOutcome, WorkerPool } from '../workers/contract.ts';
import type { ImagePlan, Inspected, Made, Media } from './contract.ts';
import { MediaError } from './library.ts';
import { INSPECTION } from './limits.ts';
import type { Job } from './messages.ts';
import { TRANSFORM_LANE } from './processes.ts';
import { failureIn, inspectedIn, madeIn } from './said.ts';

export function createMedia(pool: WorkerPool): Media {
  let pending = 0;

  /** Counted from the moment it is asked for: a limit of those that wait must not be passed by many at once. */
  async function count<T>(job: () => Promise<T>): Promise<T> {
    pending++;
    try {
      return await job();
    } finally {
      pending--;
    }
  }

  return {
    get pending() {
      return pending;
    },
    inspect: (path, declared) => count(() => inspect(pool, path, declared)),
    transform: (source, target, plan) => count(() => transform(pool, source, target, plan)),
  };
}

async function inspect(pool: WorkerPool, path: string, declared: string | undefined): Promise<Inspected> {
  let inspected: Inspected = {};
  await pool.run({ kind: 'inspect', path, declared } satisfies Job, {
    timeout: INSPECTION,
    onNote(found) {
      inspected = { ...inspected, ...inspectedIn(found) };
    },
  });
  return inspected;
}

async function transform(pool: WorkerPool, source: string, target: string, plan: ImagePlan): Promise<Made> {
  let isCreated = false;
  const prepare = async () => {
    await create(target);
    isCreated = true;
  };
  try {
    const job: Job = { kind: 'transform', source, target, plan };
    return outcomeOf(await pool.run(job, { timeout: plan.timeout, lane: TRANSFORM_LANE, prepare }), plan);
  } catch (error) {
    // The process that wrote is done or gone: nobody writes to it any more.
    if (isCreated) await rm(target, { force: true });
    throw error;
  }
}

/** Nothing that is there is written over, and what cannot be written is known before the work. */
async function create(target: string): Promise<void> {
  try {
    await (await open(target, 'wx', 0o600)).close();
  } catch {
    throw new MediaError('broken', 'The result cannot be written');
  }
}

function outcomeOf(outcome: WorkerOutcome, { timeout, maxResult }: ImagePlan): Made {
  if (outcome === 'timeout') throw new MediaError('timeout', `The image is not ready after ${timeout} ms`);
  if (typeof outcome === 'string') throw new MediaError('broken', 'The process that works on the image has ended');
  const reply = membersOf(outcome.reply);
  const failure = failureIn(reply);
  if (failure) throw failure;
  const made = madeIn(reply.done, maxResult);
  if (!made) throw new MediaError('broken', 'The process that works on the image answers what cannot be');
  return made;
}

const membersOf = (reply: unknown): Readonly<Record<string, unknown>> =>
  typeof reply === 'object' && reply !== null ? (reply as Record<string, unknown>) : {};
