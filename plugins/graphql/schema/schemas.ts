import type { GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Caller, Log } from '#kernel';
import type { Access } from '../../access/contract.ts';
import type { Overview, Schema } from '../../schema/contract.ts';
import type { GraphqlScope } from '../contract.ts';
import type { Documents } from '../document/documents.ts';
import { buildSchema } from './build.ts';
import type { Contributed } from './contributed.ts';
import type { Warn } from './names.ts';

/** A schema as callers with one set of permissions have it. */
export interface BuiltSchema {
  readonly schema: GraphQLSchema;
  readonly scope: GraphqlScope;
  /** The overview it was made from. */
  readonly version: string;
  /** Documents that were valid in this schema. */
  readonly documents: Documents;
}

export interface Schemas {
  /** From memory where nothing changed: neither tables nor permissions. */
  of(caller: Caller, scope: GraphqlScope): Promise<BuiltSchema>;
  /** The same after looking at the database again: for a document that names what there was not. Undefined: no change. */
  newer(caller: Caller, built: BuiltSchema): Promise<BuiltSchema | undefined>;
}

interface Deps {
  readonly schema: Pick<Schema, 'overview' | 'refresh'>;
  readonly access: Pick<Access, 'permissions' | 'listed'>;
  /** Fields of other plugins; asked for each time, since some of them come and go. The same list as long as none does. */
  readonly contributed: () => Contributed;
  /** How many schemas are kept. */
  readonly capacity: number;
  readonly makeDocuments: (schema: GraphQLSchema, scope: GraphqlScope) => Documents;
  readonly log: Pick<Log, 'warn'>;
}

interface Remembered extends BuiltSchema {
  /** What it was made from: one that was made from anything else takes its place. */
  readonly from: { readonly overview: string; readonly permissions: string; readonly contributed: Contributed };
}

/** Types of all schemas that are kept: each weighs some 6 KB, and a schema of many collections has thousands. */
const MOST_TYPES = 30_000;

/** Schemas in memory, the latest one for each set of permissions. */
export function createSchemas({ schema, access, contributed, capacity, makeDocuments, log }: Deps): Schemas {
  const known = new LRUCache<string, Remembered>({
    max: capacity,
    maxSize: MOST_TYPES,
    // The only schema of a very large database is kept all the same.
    sizeCalculation: (one) => Math.min(MOST_TYPES, Object.keys(one.schema.getTypeMap()).length),
  });
  const warn = once((message, about) => log.warn(about, message));

  async function made(caller: Caller, scope: GraphqlScope, overview: Overview): Promise<BuiltSchema> {
    const set = await access.permissions(caller);
    const key = `${scope}\n${set.key}`;
    const from = { overview: overview.version, permissions: set.version, contributed: contributed() };
    const found = known.get(key);
    if (found && isSame(found.from, from)) return found;
    const input = { overview, permissions: set, listed: access.listed, scope, contributed: from.contributed, warn };
    const built = buildSchema(input);
    const one = { schema: built, scope, version: overview.version, documents: makeDocuments(built, scope), from };
    known.set(key, one);
    return one;
  }

  return {
    of: async (caller, scope) => made(caller, scope, await schema.overview()),
    async newer(caller, built) {
      const found = await made(caller, built.scope, await schema.refresh());
      return found === built ? undefined : found;
    },
  };
}

const isSame = (a: Remembered['from'], b: Remembered['from']): boolean =>
  a.overview === b.overview && a.permissions === b.permissions && a.contributed === b.contributed;

/** What was said is not said again for every caller and every change of a table. */
const MOST_REMEMBERED = 10_000;

function once(warn: Warn): Warn {
  const said = new Set<string>();
  return (message, about) => {
    const key = JSON.stringify([message, about]);
    if (said.has(key) || said.size >= MOST_REMEMBERED) return;
    said.add(key);
    warn(message, about);
  };
}
