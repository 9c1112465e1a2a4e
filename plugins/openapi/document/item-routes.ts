import type { DescribedRoute, RouteDescription } from '../../http/contract.ts';
import { describeParameter } from '../../http/library.ts';
import { describeCollectionRoutes } from '../../items/library.ts';
import type { ItemVerb } from '../../schema/contract.ts';
import type { DocumentedRoute } from './documented-route.ts';
import { rowSchemaName } from './names.ts';
import { valueSchema } from './value-schema.ts';
import type { VisibleCollection } from './visible-schema.ts';

/** `RouteDescription.collection` of routes that serve any collection. */
export const ANY_COLLECTION = '{collection}';

const VERBS: Readonly<Record<string, ItemVerb>> = { POST: 'create', PATCH: 'update', DELETE: 'delete' };

/** What a request of this method does with rows. */
export const verbOf = (method: string): ItemVerb => VERBS[method] ?? 'read';

/** A route of one collection, and the name of its operation. */
export interface CollectionRoute {
  readonly route: DocumentedRoute;
  readonly operationId: string;
}

const DESCRIPTION_BY_METHOD = {
  list: { GET: 'list', SEARCH: 'search', POST: 'create', PATCH: 'updateMany', DELETE: 'deleteMany' },
  single: { GET: 'readOne', PATCH: 'updateOne', DELETE: 'deleteOne' },
} as const;

/**
 * A route that serves any collection as the route of one: `GET /items/:collection` as `GET /items/track`. Undefined where the collection
 * does not have it: singletons have one row, and the rows of tables without a key cannot be named.
 */
export function toCollectionRoute(
  { method, path }: Pick<DescribedRoute, 'method' | 'path'>,
  { collection }: VisibleCollection,
): CollectionRoute | undefined {
  const { name, singleton, hasKey } = collection;
  const single = path.endsWith('/:id');
  if (singleton && (single || method === 'POST' || method === 'DELETE')) return undefined;
  if (single && !hasKey) return undefined;
  const names: Readonly<Record<string, keyof ReturnType<typeof describeCollectionRoutes>>> =
    DESCRIPTION_BY_METHOD[single ? 'single' : 'list'];
  const described = names[method];
  if (!described) return undefined;
  const all = describeCollectionRoutes({
    collection: name,
    plural: `items of ${name}`,
    tag: name,
    holds: singleton ? 'one' : 'many',
  });
  return {
    route: {
      method,
      path: path.replace(':collection', encodeURIComponent(name)),
      description: withKeyType(all[described], collection),
    },
    operationId: `${OPERATIONS[method]}${single ? 'Single' : ''}${rowSchemaName(name)}`,
  };
}

const OPERATIONS: Readonly<Record<string, string>> = {
  GET: 'read',
  SEARCH: 'search',
  POST: 'create',
  PATCH: 'update',
  DELETE: 'delete',
};

/** Gives the parameter of a row's key the type of the key. */
function withKeyType(description: RouteDescription, { key }: VisibleCollection['collection']): RouteDescription {
  const id = description.params?.id;
  if (!id || !key?.column || key.parts) return description;
  return {
    ...description,
    params: { ...description.params, id: describeParameter(id.description, valueSchema(key, 'answered')) },
  };
}
