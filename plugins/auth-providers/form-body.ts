import { fail } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { bodyMemoryHolderOf } from '../http/library.ts';

const DEADLINE = 10_000;

/**
 * Reads a form that a browser posts for a provider, of at most `maxBytes` and within ten seconds. For routes whose body is `unread`.
 * Its memory counts like that of other unfinished bodies.
 * @throws UNSUPPORTED_MEDIA_TYPE for anything but `application/x-www-form-urlencoded`, CONTENT_TOO_LARGE, OUT_OF_TIME, SERVICE_UNAVAILABLE
 */
export async function readFormBody(ctx: HttpContext, maxBytes: number): Promise<URLSearchParams> {
  const { req, request } = ctx;
  if (!request.is('application/x-www-form-urlencoded'))
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be a form (application/x-www-form-urlencoded).');
  const memory = ctx.state.settings?.memory;
  const holder = bodyMemoryHolderOf(ctx);
  const length = Number(req.headers['content-length'] ?? maxBytes);
  if (length > maxBytes) throw createTooLargeFailure(maxBytes);
  memory?.assertAvailable(holder, length);
  const parts: Buffer[] = [];
  let size = 0;
  let isOver = false;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      late.reject(fail('OUT_OF_TIME', 'The body did not arrive in time.', { category: 'body', duration: DEADLINE })),
    DEADLINE,
  );
  const reservation = memory?.reserve(holder, late.reject, length);
  const read = async () => {
    // The connection stays, so that a refusal can be answered.
    for await (const part of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += part.length;
      if (isOver) return;
      if (size > maxBytes) throw createTooLargeFailure(maxBytes);
      reservation?.add(part.length);
      parts.push(part);
    }
  };
  try {
    await Promise.race([read(), late.promise]);
  } finally {
    isOver = true;
    clearTimeout(timer);
    reservation?.release();
  }
  return new URLSearchParams(Buffer.concat(parts).toString('utf8'));
}

const createTooLargeFailure = (maxBytes: number) =>
  fail('CONTENT_TOO_LARGE', `The form has more than ${maxBytes} bytes.`);
