import type { Collection, RelationEnd } from '../../schema/contract.ts';
import type { RawQuery, ReadNode } from '../contract.ts';
import { keyProjections } from '../key-columns.ts';
import { parseAggregate } from './aggregate.ts';
import { groupFieldPaths, type RequestedField } from './fields.ts';
import { parseFieldFunction } from './functions.ts';
import { parseNodeListParameters } from './list-parameters.ts';
import {
  findManyToAnyCollections,
  positionBehindRelation,
  type QueryNodePosition,
  withoutPagingAndOrder,
} from './node-position.ts';
import { countQueryPart, type QueryParseContext, resolveCollection } from './parse-context.ts';
import {
  createInvalidQueryFailure,
  errorPathOfParameter,
  errorPathOfRelation,
  isObject,
  type QueryErrorPath,
  renderNearestNameSuggestion,
} from './raw-values.ts';
import { parseAliases } from './search-meta-alias.ts';
import { parseSort, withDefaultOrder } from './sort.ts';

type OwnParameters = Pick<
  RawQuery,
  'filter' | 'sort' | 'limit' | 'offset' | 'page' | 'search' | 'alias' | 'aggregate' | 'groupBy'
>;

/** The query parameters of a node, named without underscores; `below` has the parameters of its relations. */
export type QueryNodeParameters = OwnParameters & { readonly below?: Readonly<Record<string, unknown>> };

const NO_PARAMETERS: QueryNodeParameters = {};
// biome-ignore format: a list of names
const DEEP_PARAMETERS = new Set(['_filter', '_sort', '_limit', '_offset', '_page', '_search', '_alias', '_aggregate', '_groupBy']);

export function parseReadNode(
  context: QueryParseContext,
  collection: Collection,
  entries: readonly string[],
  node: QueryNodeParameters,
  path: QueryErrorPath,
  position: QueryNodePosition,
): ReadNode {
  countQueryPart(context, path);
  for (const [name, below] of Object.entries(node.below ?? {})) {
    if (!isObject(below)) throw createInvalidQueryFailure('must be an object', errorPathOfRelation(path, name));
  }
  const aliases = parseAliases(node.alias, errorPathOfParameter(path, 'alias'));
  const aggregate = parseAggregate(context, collection, node, aliases, path);
  const sort = () => parseSort(context, collection, node.sort, aliases, errorPathOfParameter(path, 'sort'));
  return {
    ...parseNodeListParameters(context, collection, node, path, position),
    ...(aggregate
      ? { aggregate, order: [], projections: [] }
      : {
          order: withDefaultOrder(collection, sort(), position.sortField),
          projections: parseProjections(context, collection, entries, node, aliases, path, position),
        }),
  };
}

/** Parses the projections of a node. */
function parseProjections(
  context: QueryParseContext,
  collection: Collection,
  entries: readonly string[],
  node: QueryNodeParameters,
  aliases: ReadonlyMap<string, string>,
  path: QueryErrorPath,
  position: QueryNodePosition,
): ReadNode['projections'] {
  const { parentRelation: through } = position;

  const nested = (key: string, to: Collection, fields: readonly string[], relation: RelationEnd) =>
    parseReadNode(
      context,
      to,
      fields,
      nodeParametersBelow(node, key, path),
      errorPathOfRelation(path, key),
      positionBehindRelation(position, relation),
    );

  function toOne(key: string, to: Collection, fields: readonly string[], relation: RelationEnd): ReadNode {
    const read = nested(key, to, fields, relation);
    if (read.aggregate) throw createInvalidQueryFailure('aggregates are for lists', errorPathOfRelation(path, key));
    return withoutPagingAndOrder(read);
  }

  function parseField({ key, field, fn, nested: below, nestedByCollection }: RequestedField): ReadNode['projections'] {
    countQueryPart(context, [...path, 'fields', key]);
    const { relation } = field;
    if (fn)
      return [{ kind: 'column', key, field, fn: parseFieldFunction(context, field, fn, [...path, 'fields', key]) }];
    if (relation?.kind === 'many') {
      const to = resolveCollection(context, relation.to);
      if (!below && !to.hasKey) return [];
      const read = nested(key, to, below ?? [], relation);
      // With an aggregate the relation is a list of groups, also without nested fields.
      if (below || read.aggregate) return [{ kind: 'many', key, field, read }];
      return [{ kind: 'keys', key, field, read: { ...read, projections: keyProjections(to) } }];
    }
    if (below && relation?.kind === 'one')
      return [{ kind: 'one', key, field, read: toOne(key, resolveCollection(context, relation.to), below, relation) }];
    const by = relation?.kind === 'any' ? collection.fields.get(relation.collectionField) : undefined;
    if (relation?.kind === 'any' && by?.column && (below || nestedByCollection.size > 0)) {
      const reads = findManyToAnyCollections(context, relation).flatMap((to): readonly ReadNode[] => {
        const fields = [...(below ?? []), ...(nestedByCollection.get(to.name) ?? [])];
        if (fields.length === 0) return [];
        const own = node.below && Object.hasOwn(node.below, `${key}:${to.name}`) ? `${key}:${to.name}` : key;
        return [toOne(own, to, fields, relation)];
      });
      return [{ kind: 'any', key, field, by, reads }];
    }
    return field.column || field.parts ? [{ kind: 'column', key, field }] : [];
  }

  const excludedRelation = context.backlink ? undefined : through;
  return groupFieldPaths(context, collection, entries, {
    aliases,
    path: [...path, 'fields'],
    excludedRelation,
  }).flatMap(parseField);
}

/** Parses `deep[author]`: keys with an underscore are parameters, all others are relations. */
function nodeParametersBelow(node: QueryNodeParameters, key: string, path: QueryErrorPath): QueryNodeParameters {
  const raw = node.below && Object.hasOwn(node.below, key) ? node.below[key] : undefined;
  if (!isObject(raw)) return NO_PARAMETERS;
  const own = Object.entries(raw).filter(([name]) => name.startsWith('_'));
  for (const [name] of own) {
    if (!DEEP_PARAMETERS.has(name))
      throw createInvalidQueryFailure(
        `"${name.slice(0, 40)}" is not supported here${renderNearestNameSuggestion(name, DEEP_PARAMETERS)}`,
        [...errorPathOfRelation(path, key), name],
      );
  }
  return {
    ...Object.fromEntries(own.map(([name, value]) => [name.slice(1), value])),
    below: Object.fromEntries(Object.entries(raw).filter(([name]) => !name.startsWith('_'))),
  };
}
