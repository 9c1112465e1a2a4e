/** Splits a stream into parts of `limit` bytes and a shorter last one. Read each part to its end before the next. */
export async function* splitBytes(
  bytes: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<AsyncIterable<Uint8Array>, void, undefined> {
  const source = bytes[Symbol.asyncIterator]();
  let rest: Uint8Array | undefined;
  const readNext = async (): Promise<void> => {
    // Empty chunks would make empty parts.
    do rest = (await source.next()).value;
    while (rest?.byteLength === 0);
  };

  async function* part(): AsyncGenerator<Uint8Array> {
    for (let remaining = limit; remaining > 0 && rest; ) {
      const chunk = rest.subarray(0, remaining);
      rest = chunk.byteLength < rest.byteLength ? rest.subarray(chunk.byteLength) : undefined;
      remaining -= chunk.byteLength;
      yield chunk;
      // A full part ends at once: the next bytes may arrive much later.
      if (remaining > 0 && !rest) await readNext();
    }
  }

  for (await readNext(); rest; rest ?? (await readNext())) yield part();
}
