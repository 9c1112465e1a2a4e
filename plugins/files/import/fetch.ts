import { fail } from '#kernel';
import type { OutboundService, StreamedOutboundResponse } from '../../outbound/contract.ts';
import type { ImportDeadline } from './import-deadline.ts';

interface FetchOptions {
  readonly outbound: Pick<OutboundService, 'open'>;
  readonly deadline: ImportDeadline;
  readonly maxBytes: number;
}

export interface FetchedFile {
  /** Content-Type of the response. */
  readonly type: string | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Closes the connection, however much was read. */
  close(): Promise<void>;
}

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

const createUnavailableFailure = (reason: string) =>
  fail('SERVICE_UNAVAILABLE', reason, { service: 'external-file', reason: 'unavailable' });

/**
 * Fetches the file at a URL. Redirects are followed here, so that each URL is checked like the first one.
 * @throws SERVICE_UNAVAILABLE if the URL is denied, unreachable or answers anything but a file.
 */
export async function fetchFile(url: URL, { outbound, deadline, maxBytes }: FetchOptions): Promise<FetchedFile> {
  const answer = await followRedirects(url, outbound, deadline, maxBytes);
  try {
    assertFileResponse(answer, maxBytes);
  } catch (error) {
    await closeResponse(answer);
    throw error;
  }
  return {
    type: answer.headers['content-type'],
    bytes: readWithDeadline(answer.body, deadline),
    close: () => closeResponse(answer),
  };
}

async function followRedirects(
  url: URL,
  outbound: FetchOptions['outbound'],
  deadline: ImportDeadline,
  maxBytes: number,
): Promise<StreamedOutboundResponse> {
  let current = url;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await deadline.waitFor(
      outbound.open({
        owner: '@tenon/files',
        method: 'GET',
        url: current,
        // As specified: imports may reach private networks; the deny list excludes addresses.
        reach: 'private',
        headers: { accept: '*/*', 'user-agent': 'tenon' },
        signal: deadline.signal,
        // Longer than the deadline of the import, which ends first and gives the reason.
        timeout: deadline.remaining() + 1000,
        maxBytes,
      }),
    );
    const { location } = answer.headers;
    if (!REDIRECTS.includes(answer.status) || location === undefined) return answer;
    await closeResponse(answer);
    current = parseRedirect(current, location);
  }
  throw createUnavailableFailure('The requested destination redirects too often.');
}

function parseRedirect(from: URL, location: string): URL {
  const url = URL.parse(location, from.href);
  const hasNoCredentials = url?.username === '' && url.password === '';
  if (url && hasNoCredentials && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw createUnavailableFailure('The requested destination redirects to what cannot be fetched.');
}

function assertFileResponse({ status, headers }: StreamedOutboundResponse, maxBytes: number): void {
  // A partial response (206) was not requested and is no file.
  if (status < 200 || status > 299 || status === 206)
    throw createUnavailableFailure(`The requested destination answered ${status} in place of a file.`);
  // No encoding was requested: compressed bytes would be stored under the name and type of the original.
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity')
    throw createUnavailableFailure('The requested destination answered in an encoding that was not asked for.');
  const size = Number(headers['content-length']);
  if (size > maxBytes)
    throw fail('CONTENT_TOO_LARGE', `The file has ${size} bytes, more than the ${maxBytes} allowed.`, {
      limit: maxBytes,
    });
}

async function* readWithDeadline(
  body: AsyncIterable<Uint8Array>,
  deadline: ImportDeadline,
): AsyncGenerator<Uint8Array> {
  const parts = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const part = await deadline.waitFor(parts.next());
      if (part.done) return;
      yield part.value;
    }
  } finally {
    await parts.return?.();
  }
}

const closeResponse = async ({ body }: StreamedOutboundResponse): Promise<void> =>
  void (await body[Symbol.asyncIterator]().return?.());
