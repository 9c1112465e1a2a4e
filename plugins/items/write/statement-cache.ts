import { createHash } from 'node:crypto';
import type { Collection } from '../../schema/contract.ts';

/** Each prepared statement takes memory on every connection, as long as the connection lives. */
const MAX_PREPARED_STATEMENTS = 200;
const MAX_STATEMENTS_PER_COLLECTION = 100;
const MAX_PREPARED_TEXT = 12_000;

export interface CachedStatement {
  readonly text: string;
  /** The name of the prepared statement, set from the second use on, which makes further uses likely. */
  name?: string;
  uses: number;
}

/** Statement texts by what they depend on beside the collection. They live as long as the schema snapshot. */
export type FindOrCacheWriteStatement = (collection: Collection, key: string, write: () => string) => CachedStatement;

/** Parsing and planning is most of the cost of a small write, so repeated statements are prepared. */
export function createStatementCache(): FindOrCacheWriteStatement {
  const statements = new WeakMap<Collection, Map<string, CachedStatement>>();
  const names = new Set<string>();

  function assignName({ text }: CachedStatement): string | undefined {
    if (text.length > MAX_PREPARED_TEXT) return undefined;
    const name = `w${createHash('sha1').update(text).digest('base64url')}`;
    if (!names.has(name) && names.size >= MAX_PREPARED_STATEMENTS) return undefined;
    names.add(name);
    return name;
  }

  return (collection, key, write) => {
    let collectionStatements = statements.get(collection);
    if (!collectionStatements) {
      collectionStatements = new Map();
      statements.set(collection, collectionStatements);
    }
    let statement = collectionStatements.get(key);
    if (!statement) {
      if (collectionStatements.size >= MAX_STATEMENTS_PER_COLLECTION) collectionStatements.clear();
      statement = { text: write(), uses: 0 };
      collectionStatements.set(key, statement);
    }
    statement.uses++;
    if (statement.uses === 2) statement.name = assignName(statement);
    return statement;
  };
}
