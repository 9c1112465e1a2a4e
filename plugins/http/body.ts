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
const TIME_LIMIT = 300_000;
/** Bytes that a decompressor holds before the first byte of its text. */
const DECOMPRESSOR = 65_536;
/** Bytes of a body that is read without being counted: a connection takes as much. */
const SHORT = 16_384;
const PACKED: readonly string[] = ['gzip', 'deflate', 'br'];
const METHODS: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE', 'SEARCH'];

export type ReadBody = Routing['readBody'];
type Parser = (ctx: Context, next: Next) => Promise<void>;

export interface BodyLimits {
  /** Bytes of one body, decompressed. */
  readonly size: number;
  /** Milliseconds without a byte; 0 is no limit. */
  readonly stall: number;
  /** Milliseconds for all of a body. */
  readonly total?: number;
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
    return koaBody({ jsonLimit: limits.size, jsonStrict: false, includeUnparsed: true }) as unknown as Parser;
  };

  return async (ctx, { scalars = false } = {}) => {
    if (!METHODS.includes(ctx.method) || !hasBody(ctx) || !isJson(ctx)) return undefined;
    parser ??= load();
    const parse = await parser;
    const request: { body?: unknown; rawBody?: string } = {};
    try {
      if (!ctx.req.complete) limits.memory.admit(addressOf(ctx), lengthOf(ctx.req));
      const parsed = (source: Source) => parse(derived(source, request), async () => {});
      if (isShort(ctx.req)) await inTime(ctx.req, limits, () => parsed(ctx.req));
      else await parsed(await collected(ctx, limits));
    } catch (error) {
      // The rest is taken off the line after the answer.
      ctx.req.unpipe();
      throw refusal(error, limits.size, ctx.req.headers['content-length']);
    }
    if (request.rawBody === '' || request.rawBody === undefined) return undefined;
    checkBody(request.body, request.rawBody, scalars);
    return request.body;
  };
}

const lateError = (duration: number) =>
  fail('OUT_OF_TIME', 'The body did not arrive in time.', { category: 'body', duration });

/** Ends a short body that stalls or takes too long. Most are such, so it costs one timer. */
async function inTime(req: IncomingMessage, { stall, total = TIME_LIMIT }: BodyLimits, parsed: () => Promise<void>) {
  if (req.complete) return parsed();
  const ended = Promise.withResolvers<never>();
  const since = performance.now();
  const wait = stall > 0 ? Math.min(stall, total) : total;
  const timer = setTimeout(() => ended.reject(lateError(wait)), wait);
  const progress = () => {
    if (performance.now() - since > total) ended.reject(lateError(total));
    else timer.refresh();
  };
  try {
    const parsing = parsed();
    req.on('data', progress);
    await Promise.race([parsing, ended.promise]);
  } finally {
    clearTimeout(timer);
    req.off('data', progress);
  }
}

/**
 * A body that may be large, once it is there completely. Its memory counts while it arrives; one that stalls, takes too long, or
 * whose memory other bodies need, ends before. It is kept in the parts that arrived: as text it would be moved about by each collection.
 */
async function collected(ctx: Context, limits: BodyLimits): Promise<Source> {
  const { req } = ctx;
  const { stall, total = TIME_LIMIT, memory, size } = limits;
  const { stream, headers, cost } = decompressed(req);
  if (stream === req && Number(headers['content-length'] ?? 0) > size) throw tooLarge();
  const ended = Promise.withResolvers<void>();
  const expire = (duration: number) => ended.reject(lateError(duration));
  const gone = () => ended.reject(new Error('request aborted'));
  const late = setTimeout(expire, total, total);
  const idle = stall > 0 ? setTimeout(expire, stall, stall) : undefined;
  const held = memory.open(addressOf(ctx), ended.reject, lengthOf(req));
  const parts: Buffer[] = [];
  let received = 0;
  const progress = () => void idle?.refresh();
  const take = (part: Buffer) => {
    received += part.length;
    if (received > size) return ended.reject(tooLarge());
    parts.push(part);
    held.add(part.length);
  };
  held.add(cost);
  // A decompressor does not learn that its client left, and would be waited for without end.
  req.once('aborted', gone);
  if (req.destroyed) gone();
  try {
    stream.once('end', ended.resolve).once('error', ended.reject).on('data', take);
    req.on('data', progress);
    await ended.promise;
    return Object.assign(Readable.from([Buffer.concat(parts)]), { headers });
  } finally {
    clearTimeout(late);
    clearTimeout(idle);
    held.release();
    req.off('aborted', gone).off('data', progress);
    stream.off('end', ended.resolve).off('data', take).pause();
    // A decompressor that is still at work may fail later.
    if (stream !== req) stream.destroy();
    else stream.off('error', ended.reject);
  }
}

type Source = Readable & Pick<IncomingMessage, 'headers'>;

/** Decompression happens here, since the memory that it takes is counted. Other encodings are refused by the parser. */
function decompressed(req: IncomingMessage): { stream: Readable; headers: IncomingMessage['headers']; cost: number } {
  const encoding = req.headers['content-encoding'];
  if (!isPacked(req)) return { stream: req, headers: req.headers, cost: 0 };
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = req.headers;
  return {
    stream: req.pipe(encoding === 'br' ? createBrotliDecompress() : createUnzip()),
    headers,
    cost: DECOMPRESSOR,
  };
}

const isPacked = ({ headers }: IncomingMessage): boolean => PACKED.includes(headers['content-encoding'] ?? '');

/** Whether the parser reads a body as it comes: it is short, or there completely. */
const isShort = (req: IncomingMessage): boolean => !isPacked(req) && (req.complete || lengthOf(req) <= SHORT);

export const hasBody = ({ req }: Context): boolean =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

/** Bytes that the header of a request states; Infinity where it states none. */
export const lengthOf = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? Infinity);

/** No type at all is taken for JSON, which the parser will judge. */
function isJson(ctx: Context): boolean {
  const type = ctx.req.headers['content-type'];
  if (type === undefined || ctx.is('json', '+json')) return true;
  if (ctx.is('multipart')) return false;
  throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON.', { mediaType: type, where: 'body' });
}

/** koa-body knows neither SEARCH nor bodies without a type, so it is shown a request that has nothing unusual. */
const derived = (req: Source, request: object): Context =>
  ({ req, request, method: 'POST', is: (types: string[]) => types.includes('application/json') }) as never;

/** What the parser throws. */
const tooLarge = () => Object.assign(new Error('too large'), { status: 413 });

function refusal(error: unknown, limit: number, length: string | undefined) {
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

function checkBody(body: unknown, text: string, scalars: boolean): void {
  const isScalar = body === null || typeof body !== 'object';
  if (isScalar && !scalars) throw fail('INVALID_PAYLOAD', 'The body must be an object or an array.');
  checkJson(body, text, 'The body');
}
