import { fail } from '#kernel';
import type { Outbound, OutboundStream } from '../../outbound/contract.ts';
import type { Patience } from './patience.ts';

interface Fetching {
  readonly outbound: Pick<Outbound, 'open'>;
  readonly patience: Patience;
  readonly maxBytes: number;
}

export interface Fetched {
  /** As the other side says it. */
  readonly type: string | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Lets go of the other side, whatever of the bytes was read. */
  leave(): Promise<void>;
}

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

const unavailable = (reason: string) =>
  fail('SERVICE_UNAVAILABLE', reason, { service: 'external-file', reason: 'unavailable' });

/**
 * What lies at an address. Redirects are followed by hand, so that each of their addresses is checked as the first one is.
 * SERVICE_UNAVAILABLE for what is denied, not reached or answered by anything but a file.
 */
export async function fetchFrom(url: URL, { outbound, patience, maxBytes }: Fetching): Promise<Fetched> {
  const answer = await follow(url, outbound, patience, maxBytes);
  try {
    refuseOther(answer, maxBytes);
  } catch (error) {
    await leave(answer);
    throw error;
  }
  return { type: answer.headers['content-type'], bytes: steadily(answer.body, patience), leave: () => leave(answer) };
}

async function follow(
  url: URL,
  outbound: Fetching['outbound'],
  patience: Patience,
  maxBytes: number,
): Promise<OutboundStream> {
  let at = url;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await patience.waiting(
      outbound.open({
        method: 'GET',
        url: at,
        // As specified: whoever may import fetches from inside as well, and the deny list says from where not.
        reach: 'private',
        headers: { accept: '*/*', 'user-agent': 'tenon' },
        signal: patience.signal,
        // The clock of this side ends it first, and says why.
        timeout: patience.left() + 1000,
        maxBytes,
      }),
    );
    const { location } = answer.headers;
    if (!REDIRECTS.includes(answer.status) || location === undefined) return answer;
    await leave(answer);
    at = next(at, location);
  }
  throw unavailable('The requested destination redirects too often.');
}

function next(from: URL, location: string): URL {
  const url = URL.parse(location, from.href);
  const isPlain = url?.username === '' && url.password === '';
  if (url && isPlain && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw unavailable('The requested destination redirects to what cannot be fetched.');
}

function refuseOther({ status, headers }: OutboundStream, maxBytes: number): void {
  // A part of a file, which nobody asked for, is none.
  if (status < 200 || status > 299 || status === 206)
    throw unavailable(`The requested destination answered ${status} in place of a file.`);
  // It was asked for the bytes as they are; packed ones would be kept under the name and type of something else.
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity')
    throw unavailable('The requested destination answered in an encoding that was not asked for.');
  const size = Number(headers['content-length']);
  if (size > maxBytes)
    throw fail('CONTENT_TOO_LARGE', `The file has ${size} bytes, more than the ${maxBytes} allowed.`, {
      limit: maxBytes,
    });
}

async function* steadily(body: AsyncIterable<Uint8Array>, patience: Patience): AsyncGenerator<Uint8Array> {
  const parts = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const part = await patience.waiting(parts.next());
      if (part.done) return;
      yield part.value;
    }
  } finally {
    await parts.return?.();
  }
}

const leave = async ({ body }: OutboundStream): Promise<void> => void (await body[Symbol.asyncIterator]().return?.());
