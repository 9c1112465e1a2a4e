import type { JsonSchema, RouteAccess, RouteDescription } from '../../http/contract.ts';
import type { OpenApiOperation } from '../contract.ts';
import type { DocumentedRoute } from './documented-route.ts';
import { toOperationId, toPathTemplate } from './names.ts';
import { renderParameters } from './parameters.ts';
import type { ResponseRenderer } from './responses.ts';
import type { ReplaceRows } from './schemas-of-rows.ts';
import { tagNameOf } from './tags.ts';

/** The methods that a path item of OpenAPI 3.1 has. */
const STANDARD_METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Where a path item has the operations of other methods (extension registry of OpenAPI). */
const ADDITIONAL = 'x-oai-additionalOperations';

const ACCESS_TEXTS: Readonly<Record<RouteAccess, string | undefined>> = {
  public: undefined,
  permissions: 'For callers with permissions.',
  user: 'For signed-in users.',
  app: 'For users with app access.',
  admin: 'For admins.',
  'own-token': 'For programs with the token that the settings name.',
};

/** Schemes by which a caller may be known, beside none. */
const SCHEMES = [{ Bearer: [] }, { Token: [] }];
const COOKIE_SCHEME = { Cookie: [] };

/** The security of operations without their own: a token says who calls, and requests without one are of the Public role. */
export const DEFAULT_SECURITY: readonly JsonSchema[] = [{}, ...SCHEMES];

export interface OperationParts {
  readonly replaceRows: ReplaceRows;
  readonly responses: ResponseRenderer;
}

/** What a document calls an operation, where not by its method and path. */
export interface OperationNames {
  readonly operationId?: string;
  readonly tag?: string;
}

/** One operation of the document, made of the description of its route. */
export function renderOperation(
  route: DocumentedRoute,
  { replaceRows, responses }: OperationParts,
  { operationId, tag }: OperationNames = {},
): OpenApiOperation {
  const { method, path, description } = route;
  const parameters = renderParameters(description);
  const accessText = ACCESS_TEXTS[description.access];
  return {
    operationId: operationId ?? toOperationId(operationMethodOf(method), toPathTemplate(path)),
    tags: [tag ?? tagNameOf(route)],
    summary: description.summary,
    ...(accessText ? { description: accessText } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...renderBody(description, replaceRows),
    responses: responses.render(route),
    ...renderSecurity(description),
  };
}

/** A route of any other method is documented as OPTIONS, the one that it may answer. */
export const operationMethodOf = (method: string): string => (method === '*' ? 'OPTIONS' : method);

/** Adds an operation to a path item, under the name that OpenAPI 3.1 has for its method. */
export function addOperation(item: Record<string, unknown>, method: string, operation: OpenApiOperation): void {
  if (STANDARD_METHODS.includes(method)) {
    item[method.toLowerCase()] = operation;
    return;
  }
  const additional = (item[ADDITIONAL] ?? {}) as Record<string, unknown>;
  item[ADDITIONAL] = { ...additional, [method]: operation };
}

/** Whether a path item has an operation of this method. */
export const hasOperation = (item: Readonly<Record<string, unknown>>, method: string): boolean =>
  method.toLowerCase() in item || method in ((item[ADDITIONAL] as object | undefined) ?? {});

function renderBody({ body }: RouteDescription, replaceRows: ReplaceRows): Pick<OpenApiOperation, 'requestBody'> {
  if (!body) return {};
  const content = Object.entries(body.content).map(([type, schema]) => [type, { schema: replaceRows(schema, 'sent') }]);
  return { requestBody: { required: body.required ?? true, content: Object.fromEntries(content) } };
}

function renderSecurity({ access, readsCookie }: RouteDescription): Pick<OpenApiOperation, 'security'> {
  if (access === 'own-token') return { security: [{ Bearer: [] }] };
  const isForUsers = access === 'user' || access === 'app' || access === 'admin';
  if (!isForUsers && !readsCookie) return {};
  return { security: [...(isForUsers ? [] : [{}]), ...SCHEMES, ...(readsCookie ? [COOKIE_SCHEME] : [])] };
}
