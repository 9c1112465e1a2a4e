import { Failure, fail } from '#kernel';
import type { OutboundRequest, OutboundResponse, StreamedOutboundResponse } from './contract.ts';
import { OutboundFailure } from './failure.ts';
import type { OpenOutboundResponse } from './pinned-http-request.ts';

interface ReadOptions {
  readonly maxBytes: number;
  /** Aborts reading. Its reason is the error of the reader. */
  readonly signal: AbortSignal;
  /** Called once, when reading ends. */
  readonly done: () => void;
}

/** Creates the streamed response: a part is read from the connection when the reader asks for it. */
export const createStreamedOutboundResponse = (
  { response, end }: OpenOutboundResponse,
  { done, ...reading }: ReadOptions,
): StreamedOutboundResponse => ({
  status: response.statusCode ?? 0,
  headers: joinHeaders(response.headersDistinct),
  body: readBytes(response, reading, () => {
    done();
    end();
  }),
});

/** Not a generator, since one that was never started does not run its `finally` and would keep the connection open. */
function readBytes(
  response: OpenOutboundResponse['response'],
  { maxBytes, signal }: Omit<ReadOptions, 'done'>,
  close: () => void,
): AsyncIterable<Uint8Array> {
  const parts = (response as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let size = 0;
  let isClosed = false;
  const closed = (): { done: true; value: undefined } => {
    if (!isClosed) close();
    isClosed = true;
    return { done: true, value: undefined };
  };
  const iterator: AsyncIterator<Uint8Array, undefined> = {
    async next() {
      if (isClosed) return closed();
      try {
        const part = await parts.next();
        if (part.done && !response.complete) throw new OutboundFailure('unreachable');
        if (part.done) return closed();
        size += part.value.length;
        if (size > maxBytes) throw fail('CONTENT_TOO_LARGE', `The answer is longer than ${maxBytes} bytes.`);
        return part;
      } catch (error) {
        closed();
        if (error instanceof Failure) throw error;
        throw signal.aborted ? signal.reason : new OutboundFailure('unreachable');
      }
    },
    return: async () => closed(),
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Reads the whole body. Throws REQUESTS_EXCEEDED where `canBuffer` refuses. */
export async function readWholeOutboundResponse(
  { status, headers, body }: StreamedOutboundResponse,
  canBuffer: OutboundRequest['canBuffer'] = () => true,
): Promise<OutboundResponse> {
  const parts: Uint8Array[] = [];
  for await (const part of body) {
    if (!canBuffer(part.length)) throw fail('REQUESTS_EXCEEDED', 'Too much is being received at the same time.');
    parts.push(part);
  }
  return { status, headers, body: Buffer.concat(parts) };
}

const joinHeaders = (headers: NodeJS.Dict<string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, values = []]) => [name, values.join(', ')]));
