import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DescribedMount, DescribedRoute, JsonSchema, ParameterDescription } from '../../http/contract.ts';
import { queryOpenApiComponents } from '../../items/library.ts';
import type { OpenApiDocument, OpenApiOperation, OpenApiPathItem } from '../contract.ts';
import { ANY_COLLECTION, toCollectionRoute, verbOf } from './item-routes.ts';
import { renderMountRoutes } from './mount-paths.ts';
import { hashName, rowSchemaName, toPathTemplate } from './names.ts';
import {
  addOperation,
  DEFAULT_SECURITY,
  type OperationNames,
  operationMethodOf,
  renderOperation,
} from './operation.ts';
import { renderParameterComponents } from './parameters.ts';
import { ResponseRenderer } from './responses.ts';
import { inputSchema, inputSchemaName, RELATED_CHANGES, RELATED_CHANGES_NAME, rowSchema } from './row-schema.ts';
import { createRowReplacer, type ReplaceRows } from './schemas-of-rows.ts';
import { EXTENSIONS_TAG, itemsTagName, renderTags, tagNameOf } from './tags.ts';
import type { VisibleCollection, VisibleSchema } from './visible-schema.ts';

export interface DocumentSource {
  readonly routes: readonly DescribedRoute[];
  readonly mounts: readonly DescribedMount[];
  readonly visible: VisibleSchema;
  /** The address of the service. */
  readonly server: string;
  /** The name of the cookie with the refresh token. */
  readonly cookie: string;
}

/** Collections rendered before other work of the process has its turn. */
const COLLECTIONS_AT_ONCE = 10;

const DESCRIPTION =
  'The routes of this service, and the collections that the caller may read. The document lists all other routes, also those that the ' +
  'caller may not use.';

/** Builds the document that callers with one set of permissions get. Other requests are served in between. */
export async function buildDocument(source: DocumentSource): Promise<OpenApiDocument> {
  const { routes, mounts, visible } = source;
  const replaceRows = createRowReplacer(visible);
  const paths = new DocumentPaths(replaceRows);
  for (const route of routes) if (route.description.collection !== ANY_COLLECTION) addRoute(paths, route, visible);
  for (const mount of mounts)
    for (const { route, operationId } of renderMountRoutes(mount))
      paths.add(route as never, { operationId, tag: EXTENSIONS_TAG });
  const schemas: Record<string, JsonSchema> = { ...componentsOf(routes, replaceRows) };
  const itemRoutes = routes.filter(({ description }) => description.collection === ANY_COLLECTION);
  let count = 0;
  for (const one of visible.collections.values()) {
    if (++count % COLLECTIONS_AT_ONCE === 0) await nextTurn();
    if (!one.collection.system) addItemRoutes(paths, itemRoutes, one);
    schemas[rowSchemaName(one.collection.name)] = rowSchema(one, visible);
    if (one.writable.length > 0) schemas[inputSchemaName(one.collection.name)] = inputSchema(one, visible);
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Tenon', description: DESCRIPTION, version: '' },
    servers: [{ url: source.server }],
    security: DEFAULT_SECURITY,
    tags: renderTags(paths.tags, paths.collectionsByTag, visible),
    paths: paths.items,
    components: {
      schemas: { ...schemas, ...paths.responses.schemas },
      parameters: renderParameterComponents(parametersOf(routes)),
      responses: paths.responses.components,
      securitySchemes: securitySchemes(source.cookie),
    },
  };
  await nextTurn();
  const version = createHash('sha256').update(JSON.stringify(document)).digest('hex').slice(0, 16);
  return { ...document, info: { ...document.info, version } };
}

/** The path items of a document. */
class DocumentPaths {
  readonly responses: ResponseRenderer;
  readonly tags: string[] = [];
  readonly collectionsByTag = new Map<string, string>();
  readonly #replaceRows: ReplaceRows;
  readonly #items = new Map<string, Record<string, unknown>>();
  readonly #operationIds = new Set<string>();

  constructor(replaceRows: ReplaceRows) {
    this.#replaceRows = replaceRows;
    this.responses = new ResponseRenderer(replaceRows);
  }

  /** Adds the operation of a route; of several routes with one method and path the first, which is the one that answers. */
  add(route: Pick<DescribedRoute, 'method' | 'path' | 'description'>, names: OperationNames = {}): void {
    const method = operationMethodOf(route.method);
    const template = toPathTemplate(route.path);
    const item = this.#items.get(template) ?? {};
    if (hasOperation(item, method)) return;
    const operation = renderOperation(route, { replaceRows: this.#replaceRows, responses: this.responses }, names);
    addOperation(item, method, this.#withUniqueId(operation, `${method} ${template}`));
    this.#items.set(template, item);
    this.tags.push(...operation.tags);
  }

  get items(): Readonly<Record<string, OpenApiPathItem>> {
    return Object.fromEntries(this.#items) as Readonly<Record<string, OpenApiPathItem>>;
  }

  /** Paths may differ in signs that an id does not have. */
  #withUniqueId(operation: OpenApiOperation, place: string): OpenApiOperation {
    const isTaken = this.#operationIds.has(operation.operationId);
    const operationId = isTaken ? `${operation.operationId}_${hashName(place)}` : operation.operationId;
    this.#operationIds.add(operationId);
    return { ...operation, operationId };
  }
}

const hasOperation = (item: Readonly<Record<string, unknown>>, method: string): boolean =>
  method.toLowerCase() in item || method in ((item['x-oai-additionalOperations'] as object | undefined) ?? {});

/** Adds a route, of a collection only where the caller may do with its rows what the route does. */
function addRoute(paths: DocumentPaths, route: DescribedRoute, { collections }: VisibleSchema): void {
  const { method, description } = route;
  // Such a route only refuses other methods, which a document leaves out.
  if (method === '*' && Object.keys(description.answers).length === 0) return;
  const { collection } = description;
  if (collection !== undefined) {
    if (!collections.get(collection)?.actions.has(verbOf(method))) return;
    paths.collectionsByTag.set(tagNameOf(route), collection);
  }
  paths.add(route);
}

function addItemRoutes(paths: DocumentPaths, routes: readonly DescribedRoute[], visible: VisibleCollection): void {
  const tag = itemsTagName(visible.collection.name);
  paths.collectionsByTag.set(tag, visible.collection.name);
  for (const one of routes) {
    const own = visible.actions.has(verbOf(one.method)) ? toCollectionRoute(one, visible) : undefined;
    if (own) paths.add(own.route, { operationId: own.operationId, tag });
  }
}

function componentsOf(
  routes: readonly DescribedRoute[],
  replaceRows: ReplaceRows,
): Readonly<Record<string, JsonSchema>> {
  const all: Record<string, JsonSchema> = Object.assign(
    { [RELATED_CHANGES_NAME]: RELATED_CHANGES, ...queryOpenApiComponents.schemas },
    ...routes.map(({ description }) => description.components?.schemas),
  );
  return Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, replaceRows(schema, 'answered')]));
}

const parametersOf = (routes: readonly DescribedRoute[]): Readonly<Record<string, ParameterDescription>> =>
  Object.assign({}, ...routes.map(({ description }) => description.components?.parameters));

/** How a request may say who calls. */
const securitySchemes = (cookie: string): Readonly<Record<string, JsonSchema>> => ({
  Bearer: { type: 'http', scheme: 'bearer', description: 'An access token, or the static token of a user.' },
  Token: { type: 'apiKey', in: 'query', name: 'access_token', description: 'The same tokens in the query string.' },
  Cookie: { type: 'apiKey', in: 'cookie', name: cookie, description: 'The refresh token of a session.' },
});
