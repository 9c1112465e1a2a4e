import { openAsBlob } from 'node:fs';
import { parseBlob } from 'music-metadata';

/** Files of which all frames are counted where their header does not say how long they are. */
const COUNTED = 16 * 1024 * 1024;

const HEADERS = { skipCovers: true, skipPostHeaders: true, mkvUseIndex: true };

/** Milliseconds of sound or of moving pictures. By content: the name of the file is not looked at. */
export async function durationOf(path: string): Promise<number | undefined> {
  const file = await openAsBlob(path);
  const said = secondsIn(await parseBlob(file, { ...HEADERS, duration: false }));
  const seconds =
    said ?? (file.size <= COUNTED ? secondsIn(await parseBlob(file, { ...HEADERS, duration: true })) : undefined);
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}

type Parsed = Awaited<ReturnType<typeof parseBlob>>;

/** Pictures without sound have a duration of their track alone. */
function secondsIn({ format }: Parsed): number | undefined {
  const tracks = format.trackInfo.map((track) => ('duration' in track ? Number(track.duration) : 0));
  return [format.duration, Math.max(0, ...tracks)].find((one) => one !== undefined && Number.isFinite(one) && one > 0);
}
