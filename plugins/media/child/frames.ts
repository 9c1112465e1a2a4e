import { type FileHandle, open } from 'node:fs/promises';
import { decoders } from './decoders.ts';

/** Milliseconds that viewers show a frame which is said to take no time. */
const HASTY = 100;

/** Milliseconds that a moving image takes for all its frames; undefined of one that does not move. */
export async function playingTimeOf(path: string, type: string): Promise<number | undefined> {
  const delays = await delaysOf(path, type);
  return delays.length > 1 ? delays.reduce((sum, delay) => sum + (delay || HASTY), 0) : undefined;
}

async function delaysOf(path: string, type: string): Promise<readonly number[]> {
  if (type === 'image/gif') return delaysInGif(path);
  if (type !== 'image/webp') return [];
  const image = (await decoders())(path, { failOn: 'none', limitInputPixels: false });
  return (await image.metadata()).delay ?? [];
}

const WINDOW = 64 * 1024;
/** Of blocks as they are written these are a gigabyte; there are others. */
const MOST_READS = 4_000_000;
const HEADER = 13;
const [EXTENSION, IMAGE, CONTROL] = [0x21, 0x2c, 0xf9];

/** From block to block, without a look at the pixels: its decoder would hold all of them. What is cut off has the frames it has. */
async function delaysInGif(path: string): Promise<readonly number[]> {
  const file = await open(path, 'r');
  try {
    const bytesAt = windowOf(file);
    const delays: number[] = [];
    let delay = 0;
    let at = HEADER + tableSize((await bytesAt(HEADER - 3, 1))[0]);
    for (;;) {
      const head = await bytesAt(at, 10);
      if (head[0] === IMAGE) {
        delays.push(delay);
        delay = 0;
        at += 10 + tableSize(head[9]) + 1;
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

/** Bytes of the colours that come next. */
const tableSize = (flags = 0): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

/** Fewer bytes than asked for where the file ends. */
function windowOf(file: FileHandle): (at: number, length: number) => Promise<Buffer> {
  let start = 0;
  let held = Buffer.alloc(0);
  let reads = 0;
  return async (at, length) => {
    if (++reads > MOST_READS) throw new Error('there is no end to the blocks');
    if (at < start || at + length > start + held.length) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(WINDOW), 0, WINDOW, at);
      start = at;
      held = buffer.subarray(0, bytesRead);
    }
    return held.subarray(at - start, at - start + length);
  };
}
