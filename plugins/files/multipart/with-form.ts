import { fail } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import { bodyMemoryHolderOf } from '../../http/library.ts';
import { createFormReader, type FormReader } from './form.ts';
import { createFormPartReader } from './form-parts.ts';
import { parseHeaderValue } from './header-value.ts';

/** Characters of the longest boundary (RFC 2046). */
const MAX_BOUNDARY_LENGTH = 70;

export const isMultipart = ({ req }: HttpContext): boolean =>
  /^\s*multipart\//i.test(req.headers['content-type'] ?? '');

/**
 * Runs `work` with the form of a request, and discards the rest of the body afterwards. A client whose connection is closed while
 * it sends would see a broken connection in place of the response.
 */
export async function withForm<T>(
  ctx: HttpContext,
  { maxFiles = Number.POSITIVE_INFINITY }: { readonly maxFiles?: number },
  work: (form: FormReader) => Promise<T>,
): Promise<T> {
  const boundary = parseBoundary(ctx);
  const parts = await createFormPartReader(ctx.req, { boundary, idleTimeout: ctx.state.settings?.idleTimeout ?? 0 });
  const reservation = ctx.state.settings?.memory.reserve(bodyMemoryHolderOf(ctx), (reason) => parts.close(reason));
  try {
    return await work(createFormReader(parts, { maxFiles, countMemory: (bytes) => reservation?.add(bytes) }));
  } finally {
    reservation?.release();
    parts.close();
  }
}

function parseBoundary({ req }: HttpContext): string {
  const mediaType = req.headers['content-type'] ?? '';
  const { value, parameters } = parseHeaderValue(mediaType);
  if (value !== 'multipart/form-data')
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be a form or JSON.', { mediaType, where: 'body' });
  const boundary = parameters.get('boundary') ?? '';
  if (boundary === '') throw fail('INVALID_PAYLOAD', 'The boundary of the form is missing.');
  if (boundary.length > MAX_BOUNDARY_LENGTH) {
    const size = `${boundary.length} characters, more than the ${MAX_BOUNDARY_LENGTH} allowed`;
    throw fail('INVALID_PAYLOAD', `The boundary of the form has ${size}.`);
  }
  return boundary;
}
