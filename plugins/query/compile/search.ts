import { isUuid, quoteLiteral } from '../../database/library.ts';
import type { Field } from '../../schema/contract.ts';
import { isSearchVector } from '../../schema/library.ts';
import type { ReadNode } from '../contract.ts';
import { escapeLike } from './comparison.ts';
import type { CompilationState } from './compilation-state.ts';
import { fieldReferenceSql } from './field-use.ts';

/** Search terms that can equal a number. */
const NUMERIC = /^[+-]?(\d{1,38}(\.\d{0,38})?|\.\d{1,38})$/;

/**
 * SQL of the condition of `search` over the readable fields: a text contains the term, a number or UUID equals it, or a search
 * vector has its words. Without a field no row matches.
 */
export function searchSql(
  statement: CompilationState,
  alias: string,
  { search, searchFields: searched }: ReadNode,
): string {
  const term = search as string;
  const tests = searched.flatMap((use) => {
    // Compiled on use: PostgreSQL refuses a parameter that the statement does not contain.
    const left = () => fieldReferenceSql(statement, alias, use);
    if (isSearchVector(use.field)) return [`${left()} @@ ${textSearchQuerySql(statement, use.field, term)}`];
    switch (use.field.type) {
      case 'uuid':
        return isUuid(term) ? [`${left()} = ${statement.param(term, 'uuid')}`] : [];
      case 'integer':
      case 'bigInteger':
      case 'decimal':
      case 'float':
        return NUMERIC.test(term) ? [`${left()} = ${statement.param(term, 'numeric')}`] : [];
      default:
        return [`${left()}::text ilike ${statement.param(`%${escapeLike(term)}%`, 'text')}`];
    }
  });
  return tests.length === 0 ? 'false' : tests.join(' or ');
}

const CONFIGURATION = /to_tsvector\('((?:[^']|'')+)'::regconfig/g;

/**
 * SQL of a text search query for the words of the term (`websearch_to_tsquery`), in each text search configuration that the
 * generated column names. For a column that a trigger fills it is the configuration of the connection, as for `to_tsvector` with
 * one argument.
 */
function textSearchQuerySql(statement: CompilationState, { column }: Field, term: string): string {
  const named = [...(column?.generationExpression ?? '').matchAll(CONFIGURATION)].map(([, name = '']) => name);
  if (named.length === 0) return `websearch_to_tsquery(${statement.param(term, 'text')})`;
  const queries = [...new Set(named)].map((name) => {
    const configuration = `${quoteLiteral(name.replaceAll("''", "'"))}::regconfig`;
    return `websearch_to_tsquery(${configuration}, ${statement.param(term, 'text')})`;
  });
  return `(${queries.join(' || ')})`;
}
