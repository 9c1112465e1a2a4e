import { fail } from '#kernel';
import type { HttpContext, RoutingService } from '../http/contract.ts';
import { assertStorableJson } from '../http/library.ts';

/** Parses a document of JSON or YAML, whose parser is loaded with the first one. @throws INVALID_PAYLOAD */
export async function parseDocument(text: string, format: 'json' | 'yaml'): Promise<unknown> {
  let value: unknown;
  try {
    value = format === 'json' ? JSON.parse(text) : await parseYaml(text);
  } catch (error) {
    throw fail('INVALID_PAYLOAD', `The document is no ${format.toUpperCase()}: ${(error as Error).message}`);
  }
  assertStorableJson(value, format === 'json' ? text : (JSON.stringify(value) ?? ''), 'The document');
  return value;
}

async function parseYaml(text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  // Types beyond those of JSON, such as dates, would not be equal to what is read from the database. A few aliases can make a document
  // that fills the memory where it is written as JSON, so there are none.
  return parse(text, { schema: 'core', maxAliasCount: 0, merge: false });
}

const isYaml = (type: string): boolean => /^(?:application|text)\/(?:x-)?yaml\b/i.test(type);

/**
 * The document of a request: a body of JSON or YAML, or the first file of a form, which is JSON or YAML by its type or name.
 * @throws INVALID_PAYLOAD, UNSUPPORTED_MEDIA_TYPE, CONTENT_TOO_LARGE
 */
export async function readDocument(
  ctx: HttpContext,
  routing: Pick<RoutingService, 'readBytes'>,
  limit: { readonly maxBytes: number; readonly setting: string },
): Promise<unknown> {
  const type = ctx.req.headers['content-type'] ?? 'application/json';
  const isForm = /^multipart\/form-data\b/i.test(type);
  if (!isForm && !isYaml(type) && !/^application\/(?:[\w.-]+\+)?json\b/i.test(type))
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON, YAML or a form with a file.', {
      mediaType: type,
      where: 'body',
    });
  // The context of the middleware and of the route are the same object with different types.
  const bytes = await routing.readBytes(ctx as never, limit);
  if (isForm) return readFormFile(bytes, type);
  return parseDocument(decode(bytes), isYaml(type) ? 'yaml' : 'json');
}

async function readFormFile(bytes: Buffer, type: string): Promise<unknown> {
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(bytes), { headers: { 'Content-Type': type } }).formData();
  } catch {
    throw fail('INVALID_PAYLOAD', 'The form is malformed or breaks off.');
  }
  const file = [...form.values()].find((value) => typeof value !== 'string');
  if (!file) throw fail('INVALID_PAYLOAD', 'The form has no file.');
  const isYamlFile = isYaml(file.type) || (!/json/i.test(file.type) && /\.ya?ml$/i.test(file.name));
  return parseDocument(decode(Buffer.from(await file.arrayBuffer())), isYamlFile ? 'yaml' : 'json');
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw fail('INVALID_PAYLOAD', 'The document is not in UTF-8.');
  }
}
