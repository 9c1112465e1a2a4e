import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DescribedMount, DescribedRoute, JsonSchema } from '../../http/contract.ts';
import type { OpenApiDocument } from '../contract.ts';
import { componentsOf, securitySchemes } from './components.ts';
import { DocumentPaths } from './document-paths.ts';
import { ANY_COLLECTION, toCollectionRoute, verbOf } from './item-routes.ts';
import { renderMountRoutes } from './mount-paths.ts';
import { rowSchemaName } from './names.ts';
import { DEFAULT_SECURITY } from './operation.ts';
import { inputSchema, inputSchemaName, rowSchema } from './row-schema.ts';
import { createRowReplacer } from './schemas-of-rows.ts';
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
  const paths = new DocumentPaths(createRowReplacer(visible));
  for (const route of routes) if (route.description.collection !== ANY_COLLECTION) addRoute(paths, route, visible);
  for (const mount of mounts)
    for (const { route, operationId } of renderMountRoutes(mount))
      paths.add(route, { operationId, tag: EXTENSIONS_TAG });
  const schemas: Record<string, JsonSchema> = {};
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
    components: { ...componentsOf(routes, paths, schemas), securitySchemes: securitySchemes(source.cookie) },
  };
  await nextTurn();
  const version = createHash('sha256').update(JSON.stringify(document)).digest('hex').slice(0, 16);
  return { ...document, info: { ...document.info, version } };
}

/**
 * The paths and components of routes as documents have them, for callers who may read no collection; with `{collection}` for any. Tests
 * compare exchanges with it.
 */
export function documentRoutes(routes: readonly DescribedRoute[]): Pick<OpenApiDocument, 'paths' | 'components'> {
  const paths = new DocumentPaths((schema) => schema);
  for (const route of routes) paths.add(route);
  return { paths: paths.items, components: componentsOf(routes, paths, {}) };
}

/** Adds a route, of a collection only where the caller may do with its rows what the route does. */
function addRoute(paths: DocumentPaths, route: DescribedRoute, { collections }: VisibleSchema): void {
  const { collection } = route.description;
  if (collection !== undefined) {
    if (!collections.get(collection)?.actions.has(verbOf(route.method))) return;
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
