import { open, rm } from 'node:fs/promises';
import type { WorkerOutcome, WorkerPool } from '../workers/contract.ts';
import type { FileInspection, ImageInfo, ImagePlan, Media } from './contract.ts';
import { MediaError } from './library.ts';
import { INSPECTION_TIMEOUT } from './limits.ts';
import { TRANSFORM_LANE } from './processes.ts';
import type { MediaJob } from './worker-messages.ts';
import { parseImageInfo, parseInspection, parseMediaFailure } from './worker-reply.ts';

export function createMedia(pool: WorkerPool): Media {
  let pending = 0;

  /** Counts a job from its request on, so that a limit on `pending` also holds for concurrent requests. */
  async function trackPending<T>(job: () => Promise<T>): Promise<T> {
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
    inspect: (path, declared) => trackPending(() => inspect(pool, path, declared)),
    transform: (source, target, plan) => trackPending(() => transform(pool, source, target, plan)),
  };
}

async function inspect(pool: WorkerPool, path: string, declared: string | undefined): Promise<FileInspection> {
  let inspected: FileInspection = {};
  await pool.run({ kind: 'inspect', path, declared } satisfies MediaJob, {
    timeout: INSPECTION_TIMEOUT,
    onNote(found) {
      inspected = { ...inspected, ...parseInspection(found) };
    },
  });
  return inspected;
}

async function transform(pool: WorkerPool, source: string, target: string, plan: ImagePlan): Promise<ImageInfo> {
  let isCreated = false;
  const prepare = async () => {
    await createTarget(target);
    isCreated = true;
  };
  try {
    const job: MediaJob = { kind: 'transform', source, target, plan };
    return parseOutcome(await pool.run(job, { timeout: plan.timeout, lane: TRANSFORM_LANE, prepare }), plan);
  } catch (error) {
    // The process that wrote the file is done or has ended, so nothing writes to it any more.
    if (isCreated) await rm(target, { force: true });
    throw error;
  }
}

/**
 * Creates the empty target file. Never overwrites a file, and fails before the work if the target cannot be written.
 */
async function createTarget(target: string): Promise<void> {
  try {
    await (await open(target, 'wx', 0o600)).close();
  } catch {
    throw new MediaError('broken', 'The result cannot be written');
  }
}

function parseOutcome(outcome: WorkerOutcome, { timeout, maxResult }: ImagePlan): ImageInfo {
  if (outcome === 'timeout') throw new MediaError('timeout', `The image is not ready after ${timeout} ms`);
  if (typeof outcome === 'string') throw new MediaError('broken', 'The process that works on the image has ended');
  const reply = toMembers(outcome.reply);
  const failure = parseMediaFailure(reply);
  if (failure) throw failure;
  const image = parseImageInfo(reply.done, maxResult);
  if (!image) throw new MediaError('broken', 'The process that works on the image sent an invalid reply');
  return image;
}

const toMembers = (reply: unknown): Readonly<Record<string, unknown>> =>
  typeof reply === 'object' && reply !== null ? (reply as Record<string, unknown>) : {};
