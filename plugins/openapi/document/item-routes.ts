import type { DescribedRoute, RouteDescription } from '../../http/contract.ts';
import { describeParameter } from '../../http/library.ts';
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

/**
 * A route that serves any collection as the route of one: `GET /items/:collection` as `GET /items/track`. Undefined where the collection
 * does not have it: singletons have one row, and the rows of tables without a key cannot be named.
 */
export function toCollectionRoute(
  { method, path, description }: Pick<DescribedRoute, 'method' | 'path' | 'description'>,
  { collection }: VisibleCollection,
): CollectionRoute | undefined {
  const { name, singleton, hasKey } = collection;
  const isSingle = path.endsWith('/:id');
  if (isSingle && !hasKey) return undefined;
  const form = description.byCollection?.[singleton ? 'singleton' : 'list'];
  if (!form) return undefined;
  const { collection: _ofPath, ...params } = form.params ?? {};
  return {
    route: {
      method,
      path: path.replace(':collection', encodeURIComponent(name)),
      description: withKeyType(nameCollection({ ...form, params }, name), collection),
    },
    operationId: `${OPERATIONS[method]}${isSingle ? 'Single' : ''}${rowSchemaName(name)}`,
  };
}

/** Puts the name of a collection in the place of `{collection}`. */
function nameCollection(description: RouteDescription, name: string): RouteDescription {
  const named = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(named);
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, named(one)]));
    return value === ANY_COLLECTION ? name : value;
  };
  const { summary, body, answers } = description;
  return {
    ...description,
    summary: summary.replace(ANY_COLLECTION, () => name),
    ...(body ? { body: named(body) as typeof body } : {}),
    answers: named(answers) as typeof answers,
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
