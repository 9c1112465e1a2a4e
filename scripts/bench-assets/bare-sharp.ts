/**
 * The baseline for new transformations: a process that runs sharp alone, from file to file, and reports the milliseconds of each
 * job.
 */
import sharp from 'sharp';

export interface SharpResizeJob {
  readonly source: string;
  readonly target: string;
  readonly width: number;
}

process.on('message', async ({ source, target, width }: SharpResizeJob) => {
  const began = performance.now();
  await sharp(source, { autoOrient: true, failOn: 'warning' }).resize({ width }).toFormat('webp').toFile(target);
  process.send?.({ target, ms: performance.now() - began });
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
