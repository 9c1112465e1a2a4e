import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Caller, Log } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';
import type { SchemaOverview, SchemaService } from '../../schema/contract.ts';
import type { GraphqlScope, SubscriptionSource } from '../contract.ts';
import type { GraphqlDocumentCache } from '../document/document-cache.ts';
import { buildCallerGraphqlSchema } from './build.ts';
import type { ContributedFields } from './contributed-fields.ts';
import type { LogWarning } from './schema-names.ts';

/** The GraphQL schema of callers with one set of permissions. */
export interface CallerGraphqlSchema {
  readonly schema: GraphQLSchema;
  readonly scope: GraphqlScope;
  /** Version of the schema snapshot it was built from. */
  readonly version: string;
  /** Valid documents of this schema. */
  readonly documents: GraphqlDocumentCache;
}

export interface GraphqlSchemaCache {
  /** The schema of a caller, from the cache if neither tables nor permissions nor contributed fields have changed. */
  get(caller: Caller, scope: GraphqlScope): Promise<CallerGraphqlSchema>;
  /** Refreshes the schema snapshot for a document with unknown names. Undefined: the schema has not changed. */
  refresh(caller: Caller, built: CallerGraphqlSchema): Promise<CallerGraphqlSchema | undefined>;
}

interface Deps {
  readonly schema: Pick<SchemaService, 'snapshot' | 'refresh'>;
  readonly access: Pick<AccessControl, 'permissions' | 'permittedFields'>;
  /** Contributed fields, which may change at run time. Returns the same list until one changes. */
  readonly contributed: () => ContributedFields;
  /** What serves subscriptions; undefined without them. Returns the same object until it changes. */
  readonly subscriptions: () => SubscriptionSource | undefined;
  /** Number of GraphQL schemas in the cache. */
  readonly capacity: number;
  readonly createDocuments: (schema: GraphQLSchema, scope: GraphqlScope) => GraphqlDocumentCache;
  readonly log: Pick<Log, 'warn'>;
}

interface CachedSchema extends CallerGraphqlSchema {
  /** The versions it was built from; a schema from other versions replaces it. */
  readonly source: {
    readonly snapshot: string;
    readonly permissions: string;
    readonly contributed: ContributedFields;
    readonly subscriptions: SubscriptionSource | undefined;
  };
}

/** Types of all cached schemas: each costs some 6 KB, and a schema of many collections has thousands. */
const MAX_TYPES = 30_000;

/** Creates a cache with the latest GraphQL schema of each scope and set of permissions. */
export function createGraphqlSchemaCache({
  schema,
  access,
  contributed,
  subscriptions,
  capacity,
  createDocuments,
  log,
}: Deps): GraphqlSchemaCache {
  const cache = new LRUCache<string, CachedSchema>({
    max: capacity,
    maxSize: MAX_TYPES,
    // A schema over the limit is still cached, alone.
    sizeCalculation: (one) => Math.min(MAX_TYPES, Object.keys(one.schema.getTypeMap()).length),
  });
  const warn = warnOnce((message, about) => log.warn(about, message));

  async function getOrBuild(
    caller: Caller,
    scope: GraphqlScope,
    snapshot: SchemaOverview,
  ): Promise<CallerGraphqlSchema> {
    const set = await access.permissions(caller);
    const key = `${scope}\n${set.fieldsKey ?? set.key}`;
    const source = {
      snapshot: snapshot.version,
      permissions: set.version,
      contributed: contributed(),
      subscriptions: subscriptions(),
    };
    const cached = cache.get(key);
    if (cached && isSameSource(cached.source, source)) return cached;
    const input = {
      snapshot,
      permissions: set,
      permittedFields: access.permittedFields,
      scope,
      contributed: source.contributed,
      subscriptions: source.subscriptions,
      warn,
    };
    const built = buildCallerGraphqlSchema(input);
    const entry = { schema: built, scope, version: snapshot.version, documents: createDocuments(built, scope), source };
    cache.set(key, entry);
    return entry;
  }

  return {
    get: async (caller, scope) => getOrBuild(caller, scope, await schema.snapshot()),
    async refresh(caller, built) {
      const refreshed = await getOrBuild(caller, built.scope, await schema.refresh());
      return refreshed === built ? undefined : refreshed;
    },
  };
}

const isSameSource = (left: CachedSchema['source'], right: CachedSchema['source']): boolean =>
  left.snapshot === right.snapshot &&
  left.permissions === right.permissions &&
  left.contributed === right.contributed &&
  left.subscriptions === right.subscriptions;

/** Remembered warnings, so that none is repeated for every caller and every change of a table. */
const MAX_WARNINGS = 10_000;

function warnOnce(warn: LogWarning): LogWarning {
  const warned = new Set<string>();
  return (message, about) => {
    const key = JSON.stringify([message, about]);
    if (warned.has(key) || warned.size >= MAX_WARNINGS) return;
    warned.add(key);
    warn(message, about);
  };
}
