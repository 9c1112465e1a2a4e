import type { FileInspection } from '../contract.ts';
import { readPlayingTime } from './animation-duration.ts';
import { readImageSize } from './image-size.ts';
import { detectType } from './mime-type.ts';

/** Reports each result as soon as it is known: the next step may hang or crash the process. */
export async function inspectFile(
  path: string,
  declared: string | undefined,
  onFound: (found: FileInspection) => void,
): Promise<void> {
  const type = await detectType(path, declared);
  if (!type) return;
  onFound({ type });
  if (type.startsWith('image/')) {
    onFound((await orUndefined(readImageSize(path, type))) ?? {});
    const duration = await orUndefined(readPlayingTime(path, type));
    if (duration !== undefined) onFound({ duration });
    const { readMetadata } = await import('./metadata.ts');
    await orUndefined(readMetadata(path, type, (metadata) => onFound({ metadata })));
  } else if (/^(?:audio|video)\/|^application\/(?:ogg|mp4)$/.test(type)) {
    const { readDuration } = await import('./duration.ts');
    onFound({ duration: await orUndefined(readDuration(path)) });
  }
}

/** A step that fails is left out. */
const orUndefined = <T>(work: Promise<T>): Promise<T | undefined> => work.catch(() => undefined);
