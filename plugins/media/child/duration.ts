import { openAsBlob } from 'node:fs';
import { parseBlob } from 'music-metadata';

/** Largest size in bytes of files whose frames are counted if their header has no duration. */
const MAX_COUNTED_BYTES = 16 * 1024 * 1024;

const HEADERS = { skipCovers: true, skipPostHeaders: true, mkvUseIndex: true };

/** Milliseconds of sound or video, by content: the file name does not matter. */
export async function readSoundOrVideoDuration(path: string): Promise<number | undefined> {
  const file = await openAsBlob(path);
  const declaredSeconds = secondsIn(await parseBlob(file, { ...HEADERS, duration: false }));
  const seconds =
    declaredSeconds ??
    (file.size <= MAX_COUNTED_BYTES ? secondsIn(await parseBlob(file, { ...HEADERS, duration: true })) : undefined);
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}

type Parsed = Awaited<ReturnType<typeof parseBlob>>;

/** Video without sound has the duration in its track only. */
function secondsIn({ format }: Parsed): number | undefined {
  const tracks = format.trackInfo.map((track) => ('duration' in track ? Number(track.duration) : 0));
  return [format.duration, Math.max(0, ...tracks)].find((one) => one !== undefined && Number.isFinite(one) && one > 0);
}
