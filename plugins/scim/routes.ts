import { fail } from '#kernel';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, parsedQueryStringOf } from '../http/library.ts';
import { parseAttributeSelection } from './attribute-selection.ts';
import { parseScimBody } from './body.ts';
import { renderResourceTypes, renderSchemas, renderServiceProviderConfig } from './discovery.ts';
import { SCIM_PATH } from './error-middleware.ts';
import { LIST_PARAMETERS, LIST_SCHEMA, parseListRequest, SEARCH_SCHEMA } from './list-request.ts';
import type { ResourceHandlers } from './resource-handlers.ts';
import { send, sendResource, sendText } from './responses.ts';
import * as describe from './route-descriptions.ts';
import { scimFailure } from './scim-error.ts';
import { notFound, parseId, type ScimRequest } from './scim-request.ts';

export interface ScimRoutesDeps {
  /** Verifies the token of a request. @throws INVALID_CREDENTIALS */
  readonly open: (ctx: HttpContext) => Promise<ScimRequest>;
  readonly users: ResourceHandlers;
  readonly groups: ResourceHandlers;
}

type Handle = (ctx: HttpContext, request: ScimRequest) => Promise<void>;

/** All routes of SCIM. Each verifies the token first. */
export function scimRoutes({ open, users, groups }: ScimRoutesDeps): readonly Route[] {
  const add = (method: Route['method'], path: string, description: Route['description'], handle: Handle): Route => ({
    method,
    path: `${SCIM_PATH}${path}`,
    description,
    handle: async (ctx) => handle(ctx, await open(ctx)),
  });
  return [
    add('GET', '/ServiceProviderConfig', describe.SERVICE_PROVIDER_CONFIG, async (ctx, { base }) =>
      send(ctx, 200, renderServiceProviderConfig(base)),
    ),
    readOnly(add, '/ServiceProviderConfig'),
    ...discoveryRoutes(add, 'ResourceTypes', renderResourceTypes),
    ...discoveryRoutes(add, 'Schemas', renderSchemas),
    ...resourceRoutes(add, '/Users', 'User', users, () => {}),
    ...resourceRoutes(add, '/Groups', 'Group', groups, assertGroups),
  ];
}

/** @throws 404 where the settings turn groups off */
function assertGroups({ provider }: ScimRequest): void {
  if (!provider.hasGroups) throw scimFailure(404, 'Groups are off for this provider (SCIM_GROUPS).');
}

type Add = (method: Route['method'], path: string, description: Route['description'], handle: Handle) => Route;

/** Anything but a read of `path` is 405. Its body is not looked at. */
const readOnly = (add: Add, path: string): Route =>
  add('*', path, describe.REFUSE_DISCOVERY_METHOD, async (ctx) => {
    throw fail('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here.`, { allow: ['GET', 'HEAD'] });
  });

/** A list of descriptions, and each by its id. Neither is filtered (RFC 7644, section 4). */
function discoveryRoutes(
  add: Add,
  name: 'ResourceTypes' | 'Schemas',
  render: typeof renderResourceTypes,
): readonly Route[] {
  const assertNoFilter = (ctx: HttpContext) => {
    if (parsedQueryStringOf(ctx).filter !== undefined) throw scimFailure(403, 'This list has no filter.');
  };
  return [
    add('GET', `/${name}`, describe.listDiscovery(name), async (ctx, { provider, base }) => {
      assertNoFilter(ctx);
      const all = render(provider, base);
      const counts = { totalResults: all.length, startIndex: 1, itemsPerPage: all.length };
      send(ctx, 200, { schemas: [LIST_SCHEMA], ...counts, Resources: all });
    }),
    readOnly(add, `/${name}`),
    add('GET', `/${name}/:id`, describe.readDiscovery(name), async (ctx, { provider, base }) => {
      const found = render(provider, base).find(({ id }) => id === ctx.params.id);
      if (!found) throw notFound(ctx.params.id);
      send(ctx, 200, found);
    }),
  ];
}

function resourceRoutes(
  add: Add,
  path: string,
  name: describe.ResourceName,
  handlers: ResourceHandlers,
  assertAvailable: (request: ScimRequest) => void,
): readonly Route[] {
  const on = (method: Route['method'], suffix: string, description: Route['description'], handle: Handle) =>
    add(method, `${path}${suffix}`, description, async (ctx, request) => {
      assertAvailable(request);
      await handle(ctx, request);
    });
  const selectionOf = (ctx: HttpContext) => {
    const { attributes, excludedAttributes } = parsedQueryStringOf(ctx);
    return parseAttributeSelection(attributes, excludedAttributes);
  };
  const one = (change: ResourceHandlers['replace']): Handle => {
    return async (ctx, request) => {
      const id = parseId(ctx.params.id);
      const selection = selectionOf(ctx);
      await change(request, id, bodyOf(ctx));
      sendResource(ctx, 200, await handlers.read(request, id, selection));
    };
  };
  return [
    on('GET', '', describe.listResources(name), async (ctx, request) =>
      sendText(ctx, 200, await handlers.list(request, parseListRequest(parsedQueryStringOf(ctx)))),
    ),
    on('POST', '/.search', describe.searchResources(name), async (ctx, request) => {
      const members = parseScimBody(bodyOf(ctx), SEARCH_SCHEMA);
      const query = Object.fromEntries(LIST_PARAMETERS.map((one) => [one, members.get(one.toLowerCase())]));
      sendText(ctx, 200, await handlers.list(request, parseListRequest(query)));
    }),
    on('POST', '', describe.createResource(name), async (ctx, request) => {
      const selection = selectionOf(ctx);
      const id = await handlers.create(request, bodyOf(ctx));
      ctx.set('Location', `${request.base}${path}/${id}`);
      sendResource(ctx, 201, await handlers.read(request, id, selection));
    }),
    on('GET', '/:id', describe.readResource(name), async (ctx, request) =>
      sendResource(ctx, 200, await handlers.read(request, parseId(ctx.params.id), selectionOf(ctx))),
    ),
    on('PUT', '/:id', describe.replaceResource(name), one(handlers.replace)),
    on('PATCH', '/:id', describe.patchResource(name), one(handlers.patch)),
    on('DELETE', '/:id', describe.deleteResource(name), async (ctx, request) => {
      await handlers.remove(request, parseId(ctx.params.id));
      ctx.status = 204;
    }),
  ];
}
