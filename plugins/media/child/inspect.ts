import type { Inspected } from '../contract.ts';
import { playingTimeOf } from './frames.ts';
import { pixelsOf } from './pixels.ts';
import { typeOf } from './type.ts';

/** Tells each thing as soon as it is known: what comes next may hang or bring the process down. */
export async function inspect(
  path: string,
  declared: string | undefined,
  tell: (found: Inspected) => void,
): Promise<void> {
  const type = await typeOf(path, declared);
  if (!type) return;
  tell({ type });
  if (type.startsWith('image/')) {
    tell((await attempt(pixelsOf(path, type))) ?? {});
    const duration = await attempt(playingTimeOf(path, type));
    if (duration !== undefined) tell({ duration });
    const { readMetadata } = await import('./metadata.ts');
    await attempt(readMetadata(path, type, (metadata) => tell({ metadata })));
  } else if (/^(?:audio|video)\/|^application\/(?:ogg|mp4)$/.test(type)) {
    const { durationOf } = await import('./duration.ts');
    tell({ duration: await attempt(durationOf(path)) });
  }
}

/** What cannot be understood is left out. */
const attempt = <T>(work: Promise<T>): Promise<T | undefined> => work.catch(() => undefined);
