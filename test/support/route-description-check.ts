import { AssertionError } from 'chai';
import { ERRORS, type ErrorCode } from '../../kernel/errors.ts';
import type { DescribedRoute, JsonSchema, SchemaByMediaType } from '../../plugins/http/contract.ts';
import { ERRORS_SCHEMA, errorCodesOf } from '../../plugins/http/library.ts';
import { loadCoreRouteDescriptionValidator, type RouteDescriptionValidator } from './route-descriptions.ts';
import type { HttpReply, RequestOptions, SendRequest } from './send.ts';

/** Wraps `send` so that a request or response that contradicts the operation of its route in the OpenAPI document fails the test. */
export const createDescriptionCheckedSend =
  (send: SendRequest, environment: Readonly<Record<string, string>>): SendRequest =>
  async (method, path, options = {}) => {
    const reply = await send(method, path, options);
    const wrong = findRouteDescriptionMismatch(await loadCoreRouteDescriptionValidator(environment), {
      method,
      path,
      options,
      reply,
    });
    if (wrong) throw new AssertionError(wrong);
    return reply;
  };

export interface DescribedExchange {
  readonly method: string;
  readonly path: string;
  readonly options: RequestOptions;
  readonly reply: HttpReply;
}

/**
 * How a request or response contradicts the operation that the OpenAPI document makes of its route; undefined where it fits, or no route
 * matches.
 */
export function findRouteDescriptionMismatch(
  api: RouteDescriptionValidator,
  { method, path, options, reply }: DescribedExchange,
): string | undefined {
  const route = api.find(method, new URL(path, 'http://localhost').pathname);
  if (!route || isPreflight(method, options)) return undefined;
  const what = answerMismatch(api, route, method, reply) ?? requestMismatch(api, route, options, reply);
  return what && `${route.method} ${route.path} of ${route.owner} is not as its description says: ${what}`;
}

const isPreflight = (method: string, { headers = {} }: RequestOptions): boolean =>
  method === 'OPTIONS' && 'access-control-request-method' in headers;

function answerMismatch(
  api: RouteDescriptionValidator,
  route: DescribedRoute,
  method: string,
  reply: HttpReply,
): string | undefined {
  const { status } = reply;
  const operation = api.operationOf(route);
  if (!operation) return errorMismatch(api, route, method, reply);
  const response = operation.responses[status];
  if (!response) return hasOwnCodesOnly(reply) ? undefined : `${status} is no answer of the document`;
  if (status === 304 || method === 'HEAD') return undefined;
  const wrong = contentMismatch(api, schemasOf(response), reply);
  return wrong ?? (route.description.answers[status] ? undefined : errorMismatch(api, route, method, reply));
}

/** Whether an answer is the error of an extension, whose status and codes no route declares. */
const hasOwnCodesOnly = ({ body }: HttpReply): boolean =>
  Array.isArray(body?.errors) &&
  body.errors.every((one: { extensions?: { code?: string } }) => !((one.extensions?.code ?? '') in ERRORS));

/** The schemas of a response or body of the document, by media type. */
const schemasOf = ({ content = {} }: JsonSchema): SchemaByMediaType =>
  Object.fromEntries(
    Object.entries(content as Readonly<Record<string, { readonly schema: JsonSchema }>>).map(([type, one]) => [
      type,
      one.schema,
    ]),
  );

function contentMismatch(
  api: RouteDescriptionValidator,
  content: SchemaByMediaType,
  { status, body, headers }: HttpReply,
): string | undefined {
  const types = Object.keys(content);
  if (types.length === 0) return body === undefined ? undefined : `${status} has a body`;
  const type = mediaType(headers);
  const fitting = types.find((one) => one === type || covers(one, type));
  if (fitting === undefined) return `${status} has the type ${type || 'of nothing'}, not ${types.join(' or ')}`;
  if (!isJson(type)) return undefined;
  const wrong = api.mismatch(content[fitting] as JsonSchema, body);
  return wrong && `${status}: ${wrong} in ${renderValue(body)}`;
}

function errorMismatch(
  api: RouteDescriptionValidator,
  route: DescribedRoute,
  method: string,
  { status, body }: HttpReply,
): string | undefined {
  const allowed = errorCodesOf(route);
  if (method === 'HEAD')
    return [...allowed].some((code) => ERRORS[code].status === status) ? undefined : `it answers ${status}`;
  const wrong = status < 400 ? 'no such answer' : api.mismatch(ERRORS_SCHEMA, body);
  if (wrong) return `${status}: ${wrong} in ${renderValue(body)}`;
  const codes = (body as { errors: { extensions: { code: string } }[] }).errors.map((one) => one.extensions.code);
  // Codes outside of `ERRORS` are those of extensions, which no route declares.
  const undeclared = codes.filter((code) => code in ERRORS && !allowed.has(code as ErrorCode));
  if (undeclared.length > 0) return `${status} has the code ${undeclared.join(', ')}`;
  const first = ERRORS[codes[0] as ErrorCode] as { readonly status: number } | undefined;
  return first && first.status !== status ? `${codes[0]} comes with the status ${status}` : undefined;
}

/** How the JSON body of an accepted request contradicts the description of its route. */
function requestMismatch(
  api: RouteDescriptionValidator,
  route: DescribedRoute,
  options: RequestOptions,
  { status }: HttpReply,
): string | undefined {
  const described = api.operationOf(route)?.requestBody;
  const schema = described && schemasOf(described)['application/json'];
  if (!schema || status >= 300) return undefined;
  const { body } = options;
  if (body === undefined) return described.required === false ? undefined : 'it accepts a request without a body';
  const value = parseJsonBody(body);
  const wrong = value === undefined ? undefined : api.mismatch(schema, value);
  return wrong && `it accepts a body that does not fit: ${wrong} in ${renderValue(value)}`;
}

/** Parses the JSON of a request body; undefined for forms, streams and texts that are no JSON. */
function parseJsonBody(body: unknown): unknown {
  if (body instanceof FormData || body instanceof ReadableStream || body instanceof Uint8Array) return undefined;
  try {
    return JSON.parse(typeof body === 'string' ? body : JSON.stringify(body));
  } catch {
    return undefined;
  }
}

const mediaType = (headers: Headers): string => (headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
const covers = (range: string, type: string): boolean =>
  range === '*/*' || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)));
const isJson = (type: string): boolean => type === 'application/json' || type.endsWith('+json');

function renderValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
