import { type FileHandle, open } from 'node:fs/promises';
import { loadDecoders } from './decoders.ts';

/** Milliseconds that viewers show a frame whose delay is 0. */
const DEFAULT_DELAY = 100;

/** Milliseconds of all frames of an animation; undefined for a still image. */
export async function readAnimationDuration(path: string, type: string): Promise<number | undefined> {
  const delays = await readDelays(path, type);
  return delays.length > 1 ? delays.reduce((sum, delay) => sum + (delay || DEFAULT_DELAY), 0) : undefined;
}

async function readDelays(path: string, type: string): Promise<readonly number[]> {
  if (type === 'image/gif') return readGifDelays(path);
  if (type !== 'image/webp') return [];
  const image = (await loadDecoders())(path, { failOn: 'none', limitInputPixels: false });
  return (await image.metadata()).delay ?? [];
}

const WINDOW = 64 * 1024;
/** Bounds the work on hostile files; with blocks of usual size this is a gigabyte. */
const MAX_READS = 4_000_000;
const HEADER = 13;
const [EXTENSION, IMAGE, CONTROL] = [0x21, 0x2c, 0xf9];

/**
 * Reads the delays of a GIF by walking its blocks without decoding pixels, since the decoder would hold all frames. A
 * truncated file has the frames that are left.
 */
async function readGifDelays(path: string): Promise<readonly number[]> {
  const file = await open(path, 'r');
  try {
    const bytesAt = createWindow(file);
    const delays: number[] = [];
    let delay = 0;
    let at = HEADER + colourTableSize((await bytesAt(HEADER - 3, 1))[0]);
    for (;;) {
      const head = await bytesAt(at, 10);
      if (head[0] === IMAGE) {
        delays.push(delay);
        delay = 0;
        at += 10 + colourTableSize(head[9]) + 1;
      } else if (head[0] === EXTENSION) {
        // Hundredths of a second.
        if (head[1] === CONTROL && head.length >= 6) delay = head.readUInt16LE(4) * 10;
        at += 2;
      } else return delays;
      for (let size = -1; size !== 0; at += size + 1) {
        const [next] = await bytesAt(at, 1);
        if (next === undefined) return delays;
        size = next;
      }
    }
  } finally {
    await file.close();
  }
}

/** Bytes of the colour table that follows. */
const colourTableSize = (flags = 0): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

/**
 * Creates a reader that keeps a window of the file in memory. It answers fewer bytes than requested at the end of the
 * file.
 */
function createWindow(file: FileHandle): (at: number, length: number) => Promise<Buffer> {
  let start = 0;
  let content = Buffer.alloc(0);
  let reads = 0;
  return async (at, length) => {
    if (++reads > MAX_READS) throw new Error('the GIF has too many blocks');
    if (at < start || at + length > start + content.length) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(WINDOW), 0, WINDOW, at);
      start = at;
      content = buffer.subarray(0, bytesRead);
    }
    return content.subarray(at - start, at - start + length);
  };
}
