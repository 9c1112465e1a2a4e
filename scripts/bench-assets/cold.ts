import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { median } from '../bench/load-figures.ts';
import type { SharpResizeJob } from './bare-sharp.ts';
import type { AssetBenchServers } from './compared-servers.ts';

/** Largest allowed ratio of the service's time per image to that of sharp alone. */
export const COLD_TRANSFORM_MAX_RATIO = 1.15;

export interface ColdTransformTimes {
  readonly name: string;
  /** Median milliseconds per image: the duration of a batch divided by its images. */
  readonly service: number;
  readonly bare: number;
  /** Median ratio of `service` to `bare`, each within one batch, so that other load on the machine affects both. */
  readonly ratio: number;
}

/** Widths that were never requested: each image has to be transformed. */
let width = 300;

/** Images that one side makes in a row: the service stores an image after its answer, which must not slow down the other side. */
const RUN = 4;
const WARM_UP = 3;

/**
 * Measures transformations to new widths, by the service and by a process with sharp alone: one at a time, and as many at a time
 * as there are processors. Both sides make the same widths, in turn.
 */
export async function* measureColdTransforms(
  sides: AssetBenchServers,
  images: number,
): AsyncGenerator<ColdTransformTimes> {
  const sharp = await startSharp();
  try {
    // Warms up both sides with one image and checks that both make the same bytes of it.
    const first = width++;
    const [ours, theirs] = [await byService(sides, first), join(sides.folder, 'first.webp')];
    await sharp.run({ source: sides.picture.path, target: theirs, width: first });
    if (!ours.equals(await readFile(theirs))) throw new Error('the service and sharp alone make different images');
    const processors = availableParallelism();
    for (const [name, atOnce] of [
      ['one at a time', 1],
      [`${processors} at a time`, processors],
    ] as const) {
      const taken = { service: [] as number[], bare: [] as number[] };
      const batches = Math.ceil(images / (RUN * atOnce));
      for (let batch = 0; batch < WARM_UP + batches; batch++) {
        const lanes = Array.from({ length: atOnce }, () => Array.from({ length: RUN }, () => width++));
        const work = {
          service: (one: number) => byService(sides, one),
          bare: (one: number) =>
            sharp.run({ source: sides.picture.path, target: join(sides.folder, `${one}.webp`), width: one }),
        };
        for (const side of batch % 2 === 0 ? (['service', 'bare'] as const) : (['bare', 'service'] as const)) {
          const began = performance.now();
          await Promise.all(
            lanes.map(async (widths) => {
              for (const one of widths) await work[side](one);
            }),
          );
          // The first batches only warm up.
          if (batch >= WARM_UP) taken[side].push((performance.now() - began) / (RUN * atOnce));
        }
      }
      const ratios = taken.service.map((one, at) => one / (taken.bare[at] as number));
      yield { name, service: median(taken.service), bare: median(taken.bare), ratio: median(ratios) };
    }
  } finally {
    await sharp.stop();
  }
}

async function byService({ service, picture }: AssetBenchServers, width: number): Promise<Buffer> {
  const request = get(`${service.url}/assets/${picture.id}?width=${width}&format=webp`);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${bytes}`);
  return bytes;
}

async function startSharp() {
  const child: ChildProcess = fork(new URL('./bare-sharp.ts', import.meta.url));
  const waiting = new Map<string, () => void>();
  child.on('message', (message: { target?: string }) => waiting.get(message.target ?? '')?.());
  await once(child, 'message');
  return {
    async run(job: SharpResizeJob): Promise<void> {
      const done = new Promise<void>((resolve) => waiting.set(job.target, resolve));
      child.send(job);
      await done;
    },
    async stop() {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
