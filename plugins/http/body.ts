import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type { Context, Next } from 'koa';
import { Failure, fail } from '#kernel';
import type { UnfinishedBodyMemoryBudget } from './body-memory.ts';
import { bodyMemoryHolderOf } from './client-address-and-info.ts';
import type { RoutingService } from './contract.ts';
import { assertForm, parseForm } from './form.ts';
import { assertStorableJson } from './storable-json.ts';

/**
 * Milliseconds for a whole JSON body. Its size is limited, so a client that takes longer sends it slowly on purpose.
 */
const DEFAULT_DEADLINE = 300_000;
/** Bytes that a decompressor allocates before its first output. */
const DECOMPRESSOR_BYTES = 65_536;
/** Bodies of at most so many bytes are not counted: a connection itself costs as much. */
const UNCOUNTED_BYTES = 16_384;
const COMPRESSED_ENCODINGS: readonly string[] = ['gzip', 'deflate', 'br'];
const METHODS_WITH_BODY: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE', 'SEARCH'];

export type BodyReaders = Pick<RoutingService, 'readBody' | 'readForm' | 'readBytes'>;
/** Types by which koa-body parses: forms are read as text, since its parser makes objects of names with brackets. */
type ParsedType = 'application/json' | 'text/*';
interface ParsedBody {
  body?: unknown;
  rawBody?: string;
}
type Parser = (ctx: Context, next: Next) => Promise<void>;

export interface BodyLimits {
  /** Bytes of one body, decompressed. */
  readonly maxBytes: number;
  /** Milliseconds without a byte; 0 is no limit. */
  readonly idleTimeout: number;
  /** Milliseconds for a whole body; default 5 minutes. */
  readonly deadline?: number;
  readonly memory: UnfinishedBodyMemoryBudget;
}

/**
 * Parses JSON and forms by koa-body. The first body loads it: its parsers for forms and uploads take twenty megabytes.
 * Multipart bodies stay unread for the routes that accept them.
 */
export function createBodyReaders(limits: BodyLimits): BodyReaders {
  let parser: Promise<Parser> | undefined;
  const load = async (): Promise<Parser> => {
    const { koaBody } = await import('koa-body');
    const limit = limits.maxBytes;
    const options = { jsonLimit: limit, textLimit: limit, jsonStrict: false, includeUnparsed: true };
    return koaBody(options) as unknown as Parser;
  };

  /** Reads the body as koa-body parses a body of this type. */
  async function parseAs(type: ParsedType, ctx: Context): Promise<ParsedBody> {
    parser ??= load();
    const parse = await parser;
    const request: ParsedBody = {};
    try {
      if (!ctx.req.complete) limits.memory.assertAvailable(bodyMemoryHolderOf(ctx), contentLengthOf(ctx.req));
      const parseSource = (source: BodySource) => parse(toPost(type, source, request), async () => {});
      if (isParsedDirectly(ctx.req)) await parseBeforeDeadline(ctx.req, limits, () => parseSource(ctx.req));
      else await parseSource(await readCountedBody(ctx, limits));
    } catch (error) {
      // The service discards the rest of the body after the response (lingering-close.ts).
      ctx.req.unpipe();
      const limit = { maxBytes: limits.maxBytes, setting: 'MAX_PAYLOAD_SIZE' };
      throw toFailure(error, limit, ctx.req.headers['content-length']);
    }
    return request;
  }

  return {
    async readBody(ctx, { scalars = false } = {}) {
      if (!METHODS_WITH_BODY.includes(ctx.method) || !hasBody(ctx) || !isJson(ctx)) return undefined;
      const { body, rawBody } = await parseAs('application/json', ctx);
      if (rawBody === '' || rawBody === undefined) return undefined;
      assertJsonBody(body, rawBody, scalars);
      return body;
    },

    async readBytes(ctx, { maxBytes, setting }) {
      if (!hasBody(ctx)) return Buffer.alloc(0);
      try {
        limits.memory.assertAvailable(bodyMemoryHolderOf(ctx), contentLengthOf(ctx.req));
        return await readCountedBytes(ctx, { ...limits, maxBytes });
      } catch (error) {
        ctx.req.unpipe();
        throw toFailure(error, { maxBytes, setting }, ctx.req.headers['content-length']);
      }
    },

    async readForm(ctx) {
      if (!hasBody(ctx)) return {};
      assertForm(ctx);
      const { rawBody = '' } = await parseAs('text/*', ctx);
      return parseForm(rawBody);
    },
  };
}

const createTimeoutFailure = (duration: number) =>
  fail('OUT_OF_TIME', 'The body did not arrive in time.', { category: 'body', duration });

/** Parses a short body and fails at its deadline or idle timeout. Most bodies are short, so one timer serves both. */
async function parseBeforeDeadline(
  req: IncomingMessage,
  { idleTimeout, deadline = DEFAULT_DEADLINE }: BodyLimits,
  parseSource: () => Promise<void>,
) {
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
 * Reads a body that may be large, and counts its memory while it arrives. Fails at the deadline, at the idle timeout,
 * and when the memory is needed for other bodies. The parts stay buffers: the garbage collector would copy a long text.
 */
async function readCountedBody(ctx: Context, limits: BodyLimits): Promise<BodySource> {
  const bytes = await readCountedBytes(ctx, limits);
  return Object.assign(Readable.from([bytes]), { headers: headersWithoutEncoding(ctx.req) });
}

async function readCountedBytes(ctx: Context, limits: BodyLimits): Promise<Buffer> {
  const { req } = ctx;
  const { idleTimeout, deadline = DEFAULT_DEADLINE, memory, maxBytes } = limits;
  const { stream, cost } = decompress(req);
  if (stream === req && Number(req.headers['content-length'] ?? 0) > maxBytes) throw createTooLargeError();
  const ended = Promise.withResolvers<void>();
  const expire = (duration: number) => ended.reject(createTimeoutFailure(duration));
  const abortRead = () => ended.reject(new Error('request aborted'));
  const deadlineTimer = setTimeout(expire, deadline, deadline);
  const idleTimer = idleTimeout > 0 ? setTimeout(expire, idleTimeout, idleTimeout) : undefined;
  const reservation = memory.reserve(bodyMemoryHolderOf(ctx), ended.reject, contentLengthOf(req));
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
  // A decompressor does not learn that its client disconnected, and would never end.
  req.once('aborted', abortRead);
  if (req.destroyed) abortRead();
  try {
    stream.once('end', ended.resolve).once('error', ended.reject).on('data', collectPart);
    req.on('data', progress);
    await ended.promise;
    return Buffer.concat(parts);
  } finally {
    clearTimeout(deadlineTimer);
    clearTimeout(idleTimer);
    reservation.release();
    req.off('aborted', abortRead).off('data', progress);
    stream.off('end', ended.resolve).off('data', collectPart).pause();
    // A decompressor that still runs may fail later.
    if (stream !== req) stream.destroy();
    else stream.off('error', ended.reject);
  }
}

type BodySource = Readable & Pick<IncomingMessage, 'headers'>;

/** Decompresses here and not in the parser, so that the memory counts. The parser refuses other encodings. */
function decompress(req: IncomingMessage): { stream: Readable; cost: number } {
  if (!isCompressed(req)) return { stream: req, cost: 0 };
  const isBrotli = req.headers['content-encoding'] === 'br';
  return { stream: req.pipe(isBrotli ? createBrotliDecompress() : createUnzip()), cost: DECOMPRESSOR_BYTES };
}

/** The headers of a body that was decompressed here. */
function headersWithoutEncoding(req: IncomingMessage): IncomingMessage['headers'] {
  if (!isCompressed(req)) return req.headers;
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = req.headers;
  return headers;
}

const isCompressed = ({ headers }: IncomingMessage): boolean =>
  COMPRESSED_ENCODINGS.includes(headers['content-encoding'] ?? '');

/** Whether the parser reads the request itself: the body is short, or has arrived completely. */
const isParsedDirectly = (req: IncomingMessage): boolean =>
  !isCompressed(req) && (req.complete || contentLengthOf(req) <= UNCOUNTED_BYTES);

export const hasBody = ({ req }: Context): boolean =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

/** Content-Length in bytes; Infinity without the header. */
export const contentLengthOf = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? Infinity);

/** A body without Content-Type counts as JSON; the parser refuses it if it is not. @throws UNSUPPORTED_MEDIA_TYPE */
function isJson(ctx: Context): boolean {
  const type = ctx.req.headers['content-type'];
  if (type === undefined || ctx.is('json', '+json')) return true;
  if (ctx.is('multipart')) return false;
  throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON.', { mediaType: type, where: 'body' });
}

/** koa-body accepts neither SEARCH nor bodies without a type, so it gets a context that looks like a POST of this type. */
const toPost = (type: ParsedType, req: BodySource, request: object): Context =>
  ({ req, request, method: 'POST', is: (types: string | string[]) => [types].flat().includes(type) }) as never;

/** The error that koa-body throws for a body over its limit. */
const createTooLargeError = () => Object.assign(new Error('too large'), { status: 413 });

function toFailure(
  error: unknown,
  { maxBytes: limit, setting }: { readonly maxBytes: number; readonly setting: string },
  length: string | undefined,
) {
  if (error instanceof Failure) return error;
  const { status, message } = error as { status?: number; message?: string };
  if (status === 413) {
    // A compressed or chunked body has no Content-Length of its text, so the message names no size.
    const size = Number(length) > limit ? `has ${Number(length)} bytes, more than` : 'is larger than';
    return fail('CONTENT_TOO_LARGE', `The body ${size} the ${limit} allowed (${setting}).`, { limit });
  }
  if (status === 415) return fail('UNSUPPORTED_MEDIA_TYPE', message, { where: 'body' });
  return fail('INVALID_PAYLOAD', message);
}

function assertJsonBody(body: unknown, text: string, scalars: boolean): void {
  const isScalar = body === null || typeof body !== 'object';
  if (isScalar && !scalars) throw fail('INVALID_PAYLOAD', 'The body must be an object or an array.');
  assertStorableJson(body, text, 'The body');
}
