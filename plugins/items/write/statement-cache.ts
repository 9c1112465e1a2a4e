import { createHash } from 'node:crypto';
import type { Collection } from '../../schema/contract.ts';

/** Each named statement costs memory on every connection for as long as that lives. */
const MAX_PREPARED_STATEMENTS = 200;
const MAX_STATEMENTS_PER_COLLECTION = 100;
const MAX_PREPARED_TEXT = 12_000;

export interface CachedStatement {
  readonly text: string;
  /** From the second time on: what came twice will come again. */
  name?: string;
  uses: number;
}

/** Statement texts by what they depend on beside the collection. They live as long as the overview does. */
export type StatementCache = (collection: Collection, key: string, write: () => string) => CachedStatement;

/** Parsing and planning is most of what a small write costs, so statements that come again are prepared. */
export function createStatementCache(): StatementCache {
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
