import { type ASTNode, GraphQLError } from 'graphql';
import { GraphqlDocumentFailure } from './failure.ts';

/** Limits of one document (specification, "Limits"). Each is a setting, which the error message names. */
export interface GraphqlDocumentLimits {
  /** `GRAPHQL_QUERY_TOKEN_LIMIT` */
  readonly tokens: number;
  /** `GRAPHQL_MAX_ALIASES` */
  readonly aliases: number;
  /** Root fields of one operation: `GRAPHQL_MAX_ROOT_FIELDS` */
  readonly rootFields: number;
  /** Length of a path below a root field: `MAX_RELATIONAL_DEPTH` */
  readonly relations: number;
  /** Fields and fragments of all operations, counted as often as they are spread: `QUERY_MAX_NODES` */
  readonly nodes: number;
  /** `GRAPHQL_INTROSPECTION` */
  readonly introspection: boolean;
}

/** The failure of a document that is invalid in any schema: over a limit, or without the requested operation. */
export const schemaIndependentFailure = (message: string, nodes?: ASTNode): GraphqlDocumentFailure =>
  new GraphqlDocumentFailure('GRAPHQL_VALIDATION_EXCEPTION', [new GraphQLError(message, nodes ? { nodes } : {})], {
    isSchemaIndependent: true,
  });
