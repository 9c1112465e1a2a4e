/** sharp with nothing around it: what it is sent it does, from file to file, and says how many milliseconds that took. */
import sharp from 'sharp';

export interface Job {
  readonly source: string;
  readonly target: string;
  readonly width: number;
}

process.on('message', async ({ source, target, width }: Job) => {
  const began = performance.now();
  await sharp(source, { autoOrient: true, failOn: 'warning' }).resize({ width }).toFormat('webp').toFile(target);
  process.send?.({ target, ms: performance.now() - began });
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
