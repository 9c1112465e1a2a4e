import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Caller, Log } from '#kernel';
import type { Access } from '../../access/contract.ts';
import type { Overview, Schema } from '../../schema/contract.ts';
import type { GraphqlScope } from '../contract.ts';
import type { DocumentCache } from '../document/document-cache.ts';
import { buildSchema } from './build.ts';
import type { ContributedFields } from './contributed.ts';
import type { Warn } from './schema-names.ts';

/** A schema as callers with one set of permissions have it. */
export interface CallerSchema {
  readonly schema: GraphQLSchema;
  readonly scope: GraphqlScope;
  /** The overview it was made from. */
  readonly version: string;
  /** Documents that were valid in this schema. */
  readonly documents: DocumentCache;
}

export interface SchemaCache {
  /** From memory where nothing changed: neither tables nor permissions. */
  get(caller: Caller, scope: GraphqlScope): Promise<CallerSchema>;
  /** The same after looking at the database again: for a document that names what there was not. Undefined: no change. */
  refresh(caller: Caller, built: CallerSchema): Promise<CallerSchema | undefined>;
}

interface Deps {
  readonly schema: Pick<Schema, 'overview' | 'refresh'>;
  readonly access: Pick<Access, 'permissions' | 'listed'>;
  /** Fields of other plugins; asked for each time, since some of them come and go. The same list as long as none does. */
  readonly contributed: () => ContributedFields;
  /** How many schemas are kept. */
  readonly capacity: number;
  readonly createDocuments: (schema: GraphQLSchema, scope: GraphqlScope) => DocumentCache;
  readonly log: Pick<Log, 'warn'>;
}

interface CachedSchema extends CallerSchema {
  /** What it was made from: one that was made from anything else takes its place. */
  readonly source: { readonly snapshot: string; readonly permissions: string; readonly contributed: ContributedFields };
}

/** Types of all schemas that are kept: each weighs some 6 KB, and a schema of many collections has thousands. */
const MAX_TYPES = 30_000;

/** Schemas in memory, the latest one for each set of permissions. */
export function createSchemaCache({ schema, access, contributed, capacity, createDocuments, log }: Deps): SchemaCache {
  const cache = new LRUCache<string, CachedSchema>({
    max: capacity,
    maxSize: MAX_TYPES,
    // The only schema of a very large database is kept all the same.
    sizeCalculation: (one) => Math.min(MAX_TYPES, Object.keys(one.schema.getTypeMap()).length),
  });
  const warn = warnOnce((message, about) => log.warn(about, message));

  async function getOrBuild(caller: Caller, scope: GraphqlScope, snapshot: Overview): Promise<CallerSchema> {
    const set = await access.permissions(caller);
    const key = `${scope}\n${set.key}`;
    const source = { snapshot: snapshot.version, permissions: set.version, contributed: contributed() };
    const cached = cache.get(key);
    if (cached && isSameSource(cached.source, source)) return cached;
    const input = { snapshot, permissions: set, listed: access.listed, scope, contributed: source.contributed, warn };
    const built = buildSchema(input);
    const entry = { schema: built, scope, version: snapshot.version, documents: createDocuments(built, scope), source };
    cache.set(key, entry);
    return entry;
  }

  return {
    get: async (caller, scope) => getOrBuild(caller, scope, await schema.overview()),
    async refresh(caller, built) {
      const found = await getOrBuild(caller, built.scope, await schema.refresh());
      return found === built ? undefined : found;
    },
  };
}

const isSameSource = (left: CachedSchema['source'], right: CachedSchema['source']): boolean =>
  left.snapshot === right.snapshot && left.permissions === right.permissions && left.contributed === right.contributed;

/** What was said is not said again for every caller and every change of a table. */
const MAX_WARNINGS = 10_000;

function warnOnce(warn: Warn): Warn {
  const warned = new Set<string>();
  return (message, about) => {
    const key = JSON.stringify([message, about]);
    if (warned.has(key) || warned.size >= MAX_WARNINGS) return;
    warned.add(key);
    warn(message, about);
  };
}
