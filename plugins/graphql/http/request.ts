import { fail } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import { assertStorableJson, bodyOf } from '../../http/library.ts';

/** A GraphQL request, whose members have the right types and are not checked further. */
export interface GraphqlRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | undefined;
}

/**
 * Reads the request from the body of a POST, else from the query string.
 * @throws INVALID_PAYLOAD with the invalid member.
 */
export const parseGraphqlRequest = (ctx: HttpContext): GraphqlRequest =>
  validateMembers(ctx.method === 'POST' ? readBodyMembers(ctx) : readQueryMembers(ctx));

/** The request of code: its members are checked like those of a client. @throws INVALID_PAYLOAD */
export const parseGraphqlCall = (members: Members): GraphqlRequest => validateMembers(members);

type Members = Readonly<Partial<Record<'query' | 'variables' | 'operationName' | 'extensions', unknown>>>;

function readBodyMembers(ctx: HttpContext): Members {
  const body = bodyOf(ctx);
  if (ctx.is('multipart')) throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON.', { where: 'body' });
  if (body === undefined) throw fail('INVALID_PAYLOAD', 'The body must be JSON with a member "query".');
  // A body without Content-Type is refused: a browser sends such a request to another origin without a CORS preflight.
  if (ctx.req.headers['content-type'] === undefined)
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'The header Content-Type must say that the body is JSON.', { where: 'body' });
  if (Array.isArray(body)) throw fail('INVALID_PAYLOAD', 'The body must be one object: send one request at a time.');
  return body as Members;
}

/**
 * Reads the raw query string: brackets of a GraphQL document are not nested parameters, as they are in REST
 * (`filter[title]`).
 */
function readQueryMembers(ctx: HttpContext): Members {
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

function validateMembers({ query, variables, operationName, extensions }: Members): GraphqlRequest {
  if (query === undefined || query === null) throw fail('INVALID_PAYLOAD', '"query" is missing.');
  if (typeof query !== 'string') throw fail('INVALID_PAYLOAD', '"query" must be a text.');
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string')
    throw fail('INVALID_PAYLOAD', '"operationName" must be a text.');
  // `extensions` is unused, but an invalid member is refused.
  assertObject('extensions', extensions);
  return { query, variables: assertObject('variables', variables), operationName: operationName || undefined };
}

function assertObject(name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw fail('INVALID_PAYLOAD', `"${name}" must be an object.`);
  return value as Readonly<Record<string, unknown>>;
}
