import { fail } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import { addressOf } from '../../http/library.ts';
import { type Form, formOf } from './form.ts';
import { parameterised } from './parameters.ts';
import { partsOf } from './parts.ts';

/** As long as boundaries may be (RFC 2046). */
const LONGEST_BOUNDARY = 70;

export const isMultipart = ({ req }: HttpContext): boolean =>
  /^\s*multipart\//i.test(req.headers['content-type'] ?? '');

/**
 * Runs `work` with the form of a request and takes what is left of the body off the line afterwards, however it ends: a client
 * that is cut off while it sends sees a broken connection in place of the answer.
 */
export async function withForm<T>(
  ctx: HttpContext,
  { maxFiles = Number.POSITIVE_INFINITY }: { readonly maxFiles?: number },
  work: (form: Form) => Promise<T>,
): Promise<T> {
  const boundary = boundaryOf(ctx);
  const parts = await partsOf(ctx.req, { boundary, stall: ctx.state.settings?.stall ?? 0 });
  const held = ctx.state.settings?.memory.open(addressOf(ctx), (reason) => parts.close(reason));
  try {
    return await work(formOf(parts, { maxFiles, hold: (bytes) => held?.add(bytes) }));
  } finally {
    held?.release();
    parts.close();
  }
}

function boundaryOf({ req }: HttpContext): string {
  const mediaType = req.headers['content-type'] ?? '';
  const { value, parameters } = parameterised(mediaType);
  if (value !== 'multipart/form-data')
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be a form or JSON.', { mediaType, where: 'body' });
  const boundary = parameters.get('boundary') ?? '';
  if (boundary === '') throw fail('INVALID_PAYLOAD', 'The boundary of the form is missing.');
  if (boundary.length > LONGEST_BOUNDARY) {
    const size = `${boundary.length} characters, more than the ${LONGEST_BOUNDARY} allowed`;
    throw fail('INVALID_PAYLOAD', `The boundary of the form has ${size}.`);
  }
  return boundary;
}
