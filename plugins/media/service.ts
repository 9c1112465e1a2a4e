import { open, rm } from 'node:fs/promises';
import { type ImagePlan, type Inspected, type Made, type Media, MediaError } from './contract.ts';
import { INSPECTION } from './limits.ts';
import type { Pool } from './pool.ts';
import { failureIn, inspectedIn, madeIn } from './said.ts';
import type { Outcome } from './worker.ts';

export function createMedia(pool: Pool): Media {
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

async function inspect(pool: Pool, path: string, declared: string | undefined): Promise<Inspected> {
  let inspected: Inspected = {};
  await pool.run({ kind: 'inspect', path, declared }, INSPECTION, {
    note({ found }) {
      inspected = { ...inspected, ...inspectedIn(found) };
    },
  });
  return inspected;
}

async function transform(pool: Pool, source: string, target: string, plan: ImagePlan): Promise<Made> {
  let isCreated = false;
  const prepare = async () => {
    await create(target);
    isCreated = true;
  };
  try {
    return outcomeOf(await pool.run({ kind: 'transform', source, target, plan }, plan.timeout, { prepare }), plan);
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

function outcomeOf(outcome: Outcome, { timeout, maxResult }: ImagePlan): Made {
  if (outcome === 'timeout') throw new MediaError('timeout', `The image is not ready after ${timeout} ms`);
  if (outcome === 'broken') throw new MediaError('broken', 'The process that works on the image has ended');
  const failure = failureIn(outcome.said);
  if (failure) throw failure;
  const made = madeIn(outcome.said.done, maxResult);
  if (!made) throw new MediaError('broken', 'The process that works on the image answers what cannot be');
  return made;
}
