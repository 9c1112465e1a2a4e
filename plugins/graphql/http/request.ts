import { fail } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import { assertStorableJson, bodyOf } from '../../http/library.ts';
import type { GraphqlRequest } from '../contract.ts';

/**
 * Reads the request from the body of a POST, else from the query string.
 * @throws INVALID_PAYLOAD with the invalid member.
 */
export const parseGraphqlRequest = (ctx: HttpContext): GraphqlRequest =>
  parseGraphqlRequestMembers(ctx.method === 'POST' ? readBodyMembers(ctx) : readQueryMembers(ctx));

export type GraphqlRequestMembers = Readonly<
  Partial<Record<'query' | 'variables' | 'operationName' | 'extensions', unknown>>
>;

function readBodyMembers(ctx: HttpContext): GraphqlRequestMembers {
  const body = bodyOf(ctx);
  if (ctx.is('multipart')) throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON.', { where: 'body' });
  if (body === undefined) throw fail('INVALID_PAYLOAD', 'The body must be JSON with a member "query".');
  // A body without Content-Type is refused: a browser sends such a request to another origin without a CORS preflight.
  if (ctx.req.headers['content-type'] === undefined)
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'The header Content-Type must say that the body is JSON.', { where: 'body' });
  if (Array.isArray(body)) throw fail('INVALID_PAYLOAD', 'The body must be one object: send one request at a time.');
  return body as GraphqlRequestMembers;
}

/**
 * Reads the raw query string: brackets of a GraphQL document are not nested parameters, as they are in REST
 * (`filter[title]`).
 */
function readQueryMembers(ctx: HttpContext): GraphqlRequestMembers {
  const url = ctx.req.url ?? '';
  const at = url.indexOf('?');
  const params = new URLSearchParams(at === -1 ? '' : url.slice(at));
  const text = (name: string): string | undefined => {
    const all = params.getAll(name);
    if (all.length > 1) throw fail('INVALID_PAYLOAD', `"${name}" occurs ${all.length} times.`);
    return all[0] || undefined;
  };
  const json = (name: string): unknown => {
    const value = text(name);
    return value === undefined ? undefined : parseMember(name, value);
  };
  return {
    query: text('query'),
    variables: json('variables'),
    operationName: text('operationName'),
    extensions: json('extensions'),
  };
}

function parseMember(name: string, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw fail('INVALID_PAYLOAD', `"${name}" must be JSON.`);
  }
  assertStorableJson(value, text, `"${name}"`);
  return value;
}

/** @throws INVALID_PAYLOAD with the invalid member. */
export function parseGraphqlRequestMembers({
  query,
  variables,
  operationName,
  extensions,
}: GraphqlRequestMembers): GraphqlRequest {
  if (query === undefined || query === null) throw fail('INVALID_PAYLOAD', '"query" is missing.');
  if (typeof query !== 'string') throw fail('INVALID_PAYLOAD', '"query" must be a text.');
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string')
    throw fail('INVALID_PAYLOAD', '"operationName" must be a text.');
  return {
    query,
    variables: assertObject('variables', variables),
    operationName: operationName || undefined,
    extensions: assertObject('extensions', extensions),
  };
}

function assertObject(name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw fail('INVALID_PAYLOAD', `"${name}" must be an object.`);
  return value as Readonly<Record<string, unknown>>;
}
