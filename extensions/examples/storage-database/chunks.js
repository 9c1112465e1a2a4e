/** Bytes of one row. */
export const CHUNK = 256 * 1024;

/**
 * Splits the bytes into parts of one row each. All parts share one buffer: a part is valid until the next one is
 * requested.
 */
export async function* inChunks(source) {
  const chunk = Buffer.allocUnsafe(CHUNK);
  let filled = 0;
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      const taken = Math.min(CHUNK - filled, piece.length - at);
      chunk.set(piece.subarray(at, at + taken), filled);
      at += taken;
      filled += taken;
      if (filled < CHUNK) continue;
      yield chunk;
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
