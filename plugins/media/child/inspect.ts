import type { FileInspection } from '../contract.ts';
import { readAnimationDuration } from './animation-duration.ts';
import { readImageSize } from './image-size.ts';
import { detectMimeType } from './mime-type.ts';

/** Reports each result as soon as it is known: the next step may hang or crash the process. */
export async function inspectFile(
  path: string,
  declared: string | undefined,
  onFound: (found: FileInspection) => void,
): Promise<void> {
  const type = await detectMimeType(path, declared);
  if (!type) return;
  onFound({ type });
  if (type.startsWith('image/')) {
    onFound((await orUndefined(readImageSize(path, type))) ?? {});
    const duration = await orUndefined(readAnimationDuration(path, type));
    if (duration !== undefined) onFound({ duration });
    const { readImageMetadata } = await import('./metadata.ts');
    await orUndefined(readImageMetadata(path, type, (metadata) => onFound({ metadata })));
  } else if (/^(?:audio|video)\/|^application\/(?:ogg|mp4)$/.test(type)) {
    const { readSoundOrVideoDuration } = await import('./duration.ts');
    onFound({ duration: await orUndefined(readSoundOrVideoDuration(path)) });
  }
}

/** A step that fails is left out. */
const orUndefined = <T>(work: Promise<T>): Promise<T | undefined> => work.catch(() => undefined);
