import type { Context } from 'koa';
import { fail } from '#kernel';

/** Forms of pages have a few fields; more would only cost time. */
const MAX_FIELDS = 100;

/** @throws UNSUPPORTED_MEDIA_TYPE for a body that is no form of a page. */
export function assertForm(ctx: Context): void {
  if (!ctx.is('application/x-www-form-urlencoded'))
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be a form.', {
      mediaType: ctx.req.headers['content-type'] ?? null,
      where: 'body',
    });
}

/**
 * Parses `a=1&b=2`; of a repeated name the last value counts. The object has no prototype, so that names such as
 * `__proto__` are ordinary.
 * @throws INVALID_PAYLOAD for more than 100 fields and for NUL characters, which PostgreSQL cannot store.
 */
export function parseForm(text: string): Readonly<Record<string, string>> {
  if (text.split('&', MAX_FIELDS + 1).length > MAX_FIELDS)
    throw fail('INVALID_PAYLOAD', `The form has more than the ${MAX_FIELDS} fields allowed.`);
  const fields: Record<string, string> = { __proto__: null } as never;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name.includes('\0') || value.includes('\0'))
      throw fail('INVALID_PAYLOAD', 'The form contains a NUL character.');
    fields[name] = value;
  }
  return fields;
}
