import { fail } from '#kernel';
import type { HttpContext } from '../http/contract.ts';

const DEADLINE = 10_000;

/**
 * Reads a form that a browser posts for a provider, of at most `maxBytes` and within ten seconds. For routes whose body is `unread`.
 * @throws UNSUPPORTED_MEDIA_TYPE for anything but `application/x-www-form-urlencoded`, CONTENT_TOO_LARGE, OUT_OF_TIME
 */
export async function readFormBody({ req, request }: HttpContext, maxBytes: number): Promise<URLSearchParams> {
  if (!request.is('application/x-www-form-urlencoded'))
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be a form (application/x-www-form-urlencoded).');
  const parts: Buffer[] = [];
  let size = 0;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      late.reject(fail('OUT_OF_TIME', 'The body did not arrive in time.', { category: 'body', duration: DEADLINE })),
    DEADLINE,
  );
  const read = async () => {
    // The connection stays, so that a refusal can be answered.
    for await (const part of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) throw fail('CONTENT_TOO_LARGE', `The form has more than ${maxBytes} bytes.`);
      parts.push(part);
    }
  };
  try {
    await Promise.race([read(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
  return new URLSearchParams(Buffer.concat(parts).toString('utf8'));
}
