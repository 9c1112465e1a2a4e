import { open, rm } from 'node:fs/promises';
import type { WorkerJobOutcome, WorkerPool } from '../workers/contract.ts';
import type { FileInspection, ImageTransformPlan, ImageTransformResult, MediaService } from './contract.ts';
import { MediaError } from './library.ts';
import { FILE_INSPECTION_TIMEOUT_MS } from './limits.ts';
import { IMAGE_TRANSFORM_LANE } from './media-pool-options.ts';
import type { MediaJob } from './worker-messages.ts';
import { parseFileInspection, parseImageTransformResult, parseMediaFailure } from './worker-reply.ts';

export function createMediaService(pool: WorkerPool): MediaService {
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
    timeout: FILE_INSPECTION_TIMEOUT_MS,
    onNote(found) {
      inspected = { ...inspected, ...parseFileInspection(found) };
    },
  });
  return inspected;
}

async function transform(
  pool: WorkerPool,
  source: string,
  target: string,
  plan: ImageTransformPlan,
): Promise<ImageTransformResult> {
  let isCreated = false;
  const prepare = async () => {
    await createTarget(target);
    isCreated = true;
  };
  try {
    const job: MediaJob = { kind: 'transform', source, target, plan };
    return parseOutcome(await pool.run(job, { timeout: plan.timeout, lane: IMAGE_TRANSFORM_LANE, prepare }), plan);
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

function parseOutcome(outcome: WorkerJobOutcome, { timeout, maxResult }: ImageTransformPlan): ImageTransformResult {
  if (outcome === 'timeout') throw new MediaError('timeout', `The image is not ready after ${timeout} ms`);
  if (typeof outcome === 'string') throw new MediaError('broken', 'The process that works on the image has ended');
  const reply = toMembers(outcome.reply);
  const failure = parseMediaFailure(reply);
  if (failure) throw failure;
  const image = parseImageTransformResult(reply.done, maxResult);
  if (!image) throw new MediaError('broken', 'The process that works on the image sent an invalid reply');
  return image;
}

const toMembers = (reply: unknown): Readonly<Record<string, unknown>> =>
  typeof reply === 'object' && reply !== null ? (reply as Record<string, unknown>) : {};
