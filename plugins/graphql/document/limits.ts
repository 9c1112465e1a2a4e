import { type ASTNode, GraphQLError } from 'graphql';
import { DocumentFailure } from './failure.ts';

/** How much one document may ask for. Each is a setting, which the message of a refusal names. */
export interface DocumentLimits {
  /** `GRAPHQL_QUERY_TOKEN_LIMIT` */
  readonly tokens: number;
  /** `GRAPHQL_MAX_ALIASES` */
  readonly aliases: number;
  /** Of one operation: `GRAPHQL_MAX_ROOT_FIELDS` */
  readonly rootFields: number;
  /** Names in a row below a root field: `MAX_RELATIONAL_DEPTH` */
  readonly relations: number;
  /** Fields and fragments of all operations, each as often as it is spread: `QUERY_MAX_NODES` */
  readonly nodes: number;
  /** `GRAPHQL_INTROSPECTION` */
  readonly introspection: boolean;
}

/** Refuses for size, which no newer schema would change. */
export const schemaIndependentFailure = (message: string, nodes?: ASTNode): DocumentFailure =>
  new DocumentFailure('GRAPHQL_VALIDATION_EXCEPTION', [new GraphQLError(message, nodes ? { nodes } : {})], {
    isSchemaIndependent: true,
  });
