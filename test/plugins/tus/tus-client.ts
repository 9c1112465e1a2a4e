import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import * as tus from 'tus-js-client';
import { filesIn } from '../../support/files-in.ts';
import type { RunningTestService } from '../../support/service.ts';

/** Size of one piece in these tests (TUS_CHUNK_SIZE), in bytes. */
export const TUS_PIECE_SIZE = 65_536;

/** A temporary folder for the storage location `local`, and settings of a service that stores tus uploads in it. */
export interface TusStorageFolder {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Names of all objects in the folder, including unfinished writes. */
  objects(): Promise<readonly string[]>;
  remove(): Promise<void>;
}

export async function createTusStorageFolder(env: Readonly<Record<string, string>> = {}): Promise<TusStorageFolder> {
  const root = await mkdtemp(join(tmpdir(), 'tenon-tus-'));
  return {
    root,
    env: { TUS_ENABLED: 'true', TUS_CHUNK_SIZE: String(TUS_PIECE_SIZE), STORAGE_LOCAL_ROOT: root, ...env },
    async objects() {
      return (await filesIn(root)).map((path) => basename(path));
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

export const someBytes = (size: number): Buffer => randomBytes(size);
export const uploadIdOfUrl = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

export const renderUploadMetadata = (pairs: Readonly<Record<string, string>>): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join(',');

interface UploadOptions extends Partial<tus.UploadOptions> {
  readonly token?: string;
}

export interface FinishedUpload {
  readonly url: string;
  readonly id: string;
  /** The requests of the client: method and Upload-Offset, such as `PATCH 65536`. */
  readonly sent: readonly string[];
}

/** Starts an upload with tus-js-client; `finished` resolves at its end. `bytes` may be a stream. */
export function startTusUpload(
  service: Pick<RunningTestService, 'url'>,
  bytes: unknown,
  { token, ...options }: UploadOptions = {},
): { readonly client: tus.Upload; readonly finished: Promise<FinishedUpload> } {
  const sent: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<FinishedUpload>();
  const client = new tus.Upload(bytes as Buffer, {
    endpoint: `${service.url}/files/tus`,
    retryDelays: null,
    metadata: { filename: 'bytes.bin', filetype: 'application/octet-stream' },
    ...options,
    headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...options.headers },
    onBeforeRequest: (request) => {
      sent.push(`${request.getMethod()} ${request.getHeader('Upload-Offset') ?? ''}`.trim());
    },
    onSuccess: () => resolve({ url: client.url as string, id: uploadIdOfUrl(client.url as string), sent }),
    onError: reject,
  });
  client.start();
  return { client, finished: promise };
}

/** An HTTP stack for tus-js-client that sends `size` bytes of each request body and then stalls. */
export function createStallingHttpStack(size: number): tus.HttpStack {
  const stack = new tus.DefaultHttpStack({});
  async function* beginningOf(body: Uint8Array) {
    yield body.subarray(0, size);
    await new Promise(() => {});
  }
  return {
    getName: () => 'stalling',
    createRequest(method, url) {
      const request = stack.createRequest(method, url);
      const real = request.send.bind(request);
      request.send = (body: Uint8Array | null) =>
        real(body && Object.assign(Readable.from(beginningOf(body), { objectMode: false }), { size: body.length }));
      return request;
    },
  };
}

/** Reads the row and the bytes of a stored file; undefined where there is no row. */
export async function readStoredFile(service: RunningTestService, { root }: TusStorageFolder, id: string) {
  const [row] = await service.database.query<Record<string, string | null>>(
    'select * from platform_files where id = $1',
    [id],
  );
  if (!row) return undefined;
  return { row, bytes: await readFile(join(root, row.filename_disk as string)) };
}

export interface TusReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

/** Sends a request with the headers of tus. With `body: 'open'` the test writes and ends the body itself. */
export function sendTusRequest(
  service: Pick<RunningTestService, 'url'>,
  method: string,
  path: string,
  { token, headers = {}, body }: { token?: string; headers?: Record<string, string>; body?: Uint8Array | 'open' } = {},
): { readonly request: ClientRequest; readonly reply: Promise<TusReply> } {
  const request = httpRequest(service.url + path, {
    method,
    agent: false,
    headers: {
      'Tus-Resumable': '1.0.0',
      ...(body === undefined ? {} : { 'Content-Type': 'application/offset+octet-stream' }),
      ...(body instanceof Uint8Array ? { 'Content-Length': String(body.length) } : {}),
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
  });
  const { promise, resolve, reject } = Promise.withResolvers<TusReply>();
  request.once('error', reject);
  request.once('response', async (response) => {
    let text = '';
    try {
      for await (const part of response.setEncoding('utf8')) text += part;
    } catch (error) {
      return reject(error);
    }
    resolve({
      status: response.statusCode as number,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    });
  });
  promise.catch(() => {});
  if (body instanceof Uint8Array) request.end(body);
  else if (body === undefined) request.end();
  else request.flushHeaders();
  return { request, reply: promise };
}

/** Creates an upload by POST /files/tus and returns its path. */
export async function createTusUpload(
  service: Pick<RunningTestService, 'url'>,
  size: number | null,
  { token, metadata = { filename: 'bytes.bin' } }: { token?: string; metadata?: Record<string, string> } = {},
): Promise<string> {
  const { reply } = sendTusRequest(service, 'POST', '/files/tus', {
    token,
    headers: {
      ...(size === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(size) }),
      'Upload-Metadata': renderUploadMetadata(metadata),
    },
  });
  const { status, headers, body } = await reply;
  if (status !== 201) throw new Error(`an upload could not be begun: ${status} ${JSON.stringify(body)}`);
  return headers.location as string;
}

/** Reads from the database how many bytes of an upload are stored. */
export async function readReceivedByteCount(
  service: Pick<RunningTestService, 'database'>,
  path: string,
): Promise<number> {
  const rows = await service.database.query<{ received: string }>(
    'select received from platform_uploads where id = $1',
    [uploadIdOfUrl(path)],
  );
  return Number(rows[0]?.received ?? Number.NaN);
}
