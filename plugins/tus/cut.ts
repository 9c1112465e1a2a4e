/** Cuts what comes into parts of `limit` bytes and a shorter last one. A part is read to its end before the next one is asked for. */
export async function* cut(
  bytes: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<AsyncIterable<Uint8Array>, void, undefined> {
  const source = bytes[Symbol.asyncIterator]();
  let rest: Uint8Array | undefined;
  const more = async (): Promise<void> => {
    // Empty chunks would make empty parts.
    do rest = (await source.next()).value;
    while (rest?.byteLength === 0);
  };

  async function* part(): AsyncGenerator<Uint8Array> {
    for (let room = limit; room > 0 && rest; ) {
      const chunk = rest.subarray(0, room);
      rest = chunk.byteLength < rest.byteLength ? rest.subarray(chunk.byteLength) : undefined;
      room -= chunk.byteLength;
      yield chunk;
      // A full part is kept at once: nobody knows when more will come.
      if (room > 0 && !rest) await more();
    }
  }

  for (await more(); rest; rest ?? (await more())) yield part();
}
