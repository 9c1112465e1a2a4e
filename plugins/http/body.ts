import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type { Context, Next } from 'koa';
import { Failure, fail } from '#kernel';
import type { BodyMemory } from './body-memory.ts';
import { addressOf } from './client.ts';
import type { Routing } from './contract.ts';
import { checkJson } from './json.ts';

/** Milliseconds for all of a JSON body: its size is limited, so a client that takes longer sends it slowly on purpose. */
const DEFAULT_DEADLINE = 300_000;
/** Bytes that a decompressor holds before the first byte of its text. */
const DECOMPRESSOR_BYTES = 65_536;
/** Bytes of a body that is read without being counted: a connection takes as much. */
const UNCOUNTED_BYTES = 16_384;
const COMPRESSED_ENCODINGS: readonly string[] = ['gzip', 'deflate', 'br'];
const METHODS_WITH_BODY: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE', 'SEARCH'];

export type ReadBody = Routing['readBody'];
type Parser = (ctx: Context, next: Next) => Promise<void>;

export interface BodyLimits {
  /** Bytes of one body, decompressed. */
  readonly maxBytes: number;
  /** Milliseconds without a byte; 0 is no limit. */
  readonly idleTimeout: number;
  /** Milliseconds for all of a body. */
  readonly deadline?: number;
  readonly memory: BodyMemory;
}

/**
 * Reads JSON bodies by koa-body, which is loaded with the first of them: it brings parsers for forms and uploads that
 * take twenty megabytes. Multipart bodies are left unread for the routes that take them.
 */
export function createBodyReader(limits: BodyLimits): ReadBody {
  let parser: Promise<Parser> | undefined;
  const load = async (): Promise<Parser> => {
    const { koaBody } = await import('koa-body');
    return koaBody({ jsonLimit: limits.maxBytes, jsonStrict: false, includeUnparsed: true }) as unknown as Parser;
  };

  return async (ctx, { scalars = false } = {}) => {
    if (!METHODS_WITH_BODY.includes(ctx.method) || !hasBody(ctx) || !isJson(ctx)) return undefined;
    parser ??= load();
    const parse = await parser;
    const request: { body?: unknown; rawBody?: string } = {};
    try {
      if (!ctx.req.complete) limits.memory.assertAvailable(addressOf(ctx), contentLengthOf(ctx.req));
      const parseSource = (source: BodySource) => parse(toJsonPost(source, request), async () => {});
      if (isParsedDirectly(ctx.req)) await parseBeforeDeadline(ctx.req, limits, () => parseSource(ctx.req));
      else await parseSource(await readCountedBody(ctx, limits));
    } catch (error) {
      // The rest is taken off the line after the answer.
      ctx.req.unpipe();
      throw toFailure(error, limits.maxBytes, ctx.req.headers['content-length']);
    }
    if (request.rawBody === '' || request.rawBody === undefined) return undefined;
    assertJsonBody(request.body, request.rawBody, scalars);
    return request.body;
  };
}

const createTimeoutFailure = (duration: number) =>
  fail('OUT_OF_TIME', 'The body did not arrive in time.', { category: 'body', duration });

/** Ends a short body that stalls or takes too long. Most are such, so it costs one timer. */
async function parseBeforeDeadline(req: IncomingMessage, { idleTimeout, deadline = DEFAULT_DEADLINE }: BodyLimits, parseSource: () => Promise<void>) {
  if (req.complete) return parseSource();
  const deadlinePassed = Promise.withResolvers<never>();
  const startedAt = performance.now();
  const delay = idleTimeout > 0 ? Math.min(idleTimeout, deadline) : deadline;
  const timer = setTimeout(() => deadlinePassed.reject(createTimeoutFailure(delay)), delay);
  const progress = () => {
    if (performance.now() - startedAt > deadline) deadlinePassed.reject(createTimeoutFailure(deadline));
    else timer.refresh();
  };
  try {
    const parsing = parseSource();
    req.on('data', progress);
    await Promise.race([parsing, deadlinePassed.promise]);
  } finally {
    clearTimeout(timer);
    req.off('data', progress);
  }
}

/**
 * A body that may be large, once it is there completely. Its memory counts while it arrives; one that stalls, takes too long, or
 * whose memory other bodies need, ends before. It is kept in the parts that arrived: as text it would be moved about by each collection.
 */
async function readCountedBody(ctx: Context, limits: BodyLimits): Promise<BodySource> {
  const { req } = ctx;
  const { idleTimeout, deadline = DEFAULT_DEADLINE, memory, maxBytes } = limits;
  const { stream, headers, cost } = decompress(req);
  if (stream === req && Number(headers['content-length'] ?? 0) > maxBytes) throw createTooLargeError();
  const ended = Promise.withResolvers<void>();
  const expire = (duration: number) => ended.reject(createTimeoutFailure(duration));
  const abortRead = () => ended.reject(new Error('request aborted'));
  const deadlineTimer = setTimeout(expire, deadline, deadline);
  const idleTimer = idleTimeout > 0 ? setTimeout(expire, idleTimeout, idleTimeout) : undefined;
  const reservation = memory.open(addressOf(ctx), ended.reject, contentLengthOf(req));
  const parts: Buffer[] = [];
  let received = 0;
  const progress = () => void idleTimer?.refresh();
  const collectPart = (part: Buffer) => {
    received += part.length;
    if (received > maxBytes) return ended.reject(createTooLargeError());
    parts.push(part);
    reservation.add(part.length);
  };
  reservation.add(cost);
  // A decompressor does not learn that its client left, and would be waited for without end.
  req.once('aborted', abortRead);
  if (req.destroyed) abortRead();
  try {
    stream.once('end', ended.resolve).once('error', ended.reject).on('data', collectPart);
    req.on('data', progress);
    await ended.promise;
    return Object.assign(Readable.from([Buffer.concat(parts)]), { headers });
  } finally {
    clearTimeout(deadlineTimer);
    clearTimeout(idleTimer);
    reservation.release();
    req.off('aborted', abortRead).off('data', progress);
    stream.off('end', ended.resolve).off('data', collectPart).pause();
    // A decompressor that is still at work may fail later.
    if (stream !== req) stream.destroy();
    else stream.off('error', ended.reject);
  }
}

type BodySource = Readable & Pick<IncomingMessage, 'headers'>;

/** Decompression happens here, since the memory that it takes is counted. Other encodings are refused by the parser. */
function decompress(req: IncomingMessage): { stream: Readable; headers: IncomingMessage['headers']; cost: number } {
  const encoding = req.headers['content-encoding'];
  if (!isCompressed(req)) return { stream: req, headers: req.headers, cost: 0 };
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = req.headers;
  return {
    stream: req.pipe(encoding === 'br' ? createBrotliDecompress() : createUnzip()),
    headers,
    cost: DECOMPRESSOR_BYTES,
  };
}

const isCompressed = ({ headers }: IncomingMessage): boolean => COMPRESSED_ENCODINGS.includes(headers['content-encoding'] ?? '');

/** Whether the parser reads a body as it comes: it is short, or there completely. */
const isParsedDirectly = (req: IncomingMessage): boolean => !isCompressed(req) && (req.complete || contentLengthOf(req) <= UNCOUNTED_BYTES);

export const hasBody = ({ req }: Context): boolean =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

/** Bytes that the header of a request states; Infinity where it states none. */
export const contentLengthOf = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? Infinity);

/** No type at all is taken for JSON, which the parser will judge. */
function isJson(ctx: Context): boolean {
  const type = ctx.req.headers['content-type'];
  if (type === undefined || ctx.is('json', '+json')) return true;
  if (ctx.is('multipart')) return false;
  throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON.', { mediaType: type, where: 'body' });
}

/** koa-body knows neither SEARCH nor bodies without a type, so it is shown a request that has nothing unusual. */
const toJsonPost = (req: BodySource, request: object): Context =>
  ({ req, request, method: 'POST', is: (types: string[]) => types.includes('application/json') }) as never;

/** What the parser throws. */
const createTooLargeError = () => Object.assign(new Error('too large'), { status: 413 });

function toFailure(error: unknown, limit: number, length: string | undefined) {
  if (error instanceof Failure) return error;
  const { status, message } = error as { status?: number; message?: string };
  if (status === 413) {
    // What came packed, or in parts, has no size yet, or another one than it will have.
    const size = Number(length) > limit ? `has ${Number(length)} bytes, more than` : 'is larger than';
    return fail('CONTENT_TOO_LARGE', `The body ${size} the ${limit} allowed (MAX_PAYLOAD_SIZE).`, { limit });
  }
  if (status === 415) return fail('UNSUPPORTED_MEDIA_TYPE', message, { where: 'body' });
  return fail('INVALID_PAYLOAD', message);
}

function assertJsonBody(body: unknown, text: string, scalars: boolean): void {
  const isScalar = body === null || typeof body !== 'object';
  if (isScalar && !scalars) throw fail('INVALID_PAYLOAD', 'The body must be an object or an array.');
  checkJson(body, text, 'The body');
}
