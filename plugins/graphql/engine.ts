import { type GraphQLSchema, printSchema } from 'graphql';
import { type Caller, fail, type Log } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { QueryEngine } from '../query/contract.ts';
import type { SchemaService } from '../schema/contract.ts';
import type {
  GraphqlRequest,
  GraphqlResolverContext,
  GraphqlScope,
  PreparedGraphqlOperation,
  SubscriptionSource,
} from './contract.ts';
import { createGraphqlDocumentCaches } from './document/document-cache.ts';
import { createOperationExecutor } from './execute/execute.ts';
import type { GraphqlResponse } from './execute/operation-and-response-types.ts';
import { prepareGraphqlOperation } from './execute/prepare-operation.ts';
import { answerGraphqlRequest, type GraphqlCall } from './http/answer-request.ts';
import type { ContributedFields } from './schema/contributed-fields.ts';
import { createGraphqlSchemaCache } from './schema/schema-cache.ts';

/**
 * Runs GraphQL documents. The engine is loaded with the first document: the graphql package and the schemas are a tenth
 * of all code.
 */
export interface GraphqlEngine {
  /** Runs one request. @throws DocumentFailure for an invalid request, before any field runs. */
  run(scope: GraphqlScope, request: GraphqlRequest, call: GraphqlCall): Promise<GraphqlResponse>;
  /** Validates a document of the scope `items`. @throws DocumentFailure for an invalid request. */
  prepare(request: GraphqlRequest, call: GraphqlResolverContext): Promise<PreparedGraphqlOperation>;
  /** The schema of the caller in the schema language. @throws FORBIDDEN when introspection is off. */
  sdl(caller: Caller, scope: GraphqlScope): Promise<string>;
}

export interface GraphqlEngineDeps {
  readonly access: AccessControl;
  readonly items: ItemsEngine;
  readonly query: Pick<QueryEngine, 'ceilings'>;
  readonly schema: SchemaService;
  /** Returns the same list until a field is added or removed: cached schemas depend on its identity. */
  readonly contributed: () => ContributedFields;
  /** Undefined without subscriptions; the same object until it changes. */
  readonly subscriptions: () => SubscriptionSource | undefined;
  readonly limits: { readonly tokens: number; readonly aliases: number; readonly rootFields: number };
  /** Number of GraphQL schemas in the cache. */
  readonly capacity: number;
  readonly introspection: boolean;
  readonly log: Log;
}

/** Schemas in the schema language: printing a large one takes long. */
const printedSchemas = new WeakMap<GraphQLSchema, string>();

export function createGraphqlEngine(deps: GraphqlEngineDeps): GraphqlEngine {
  const { access, items, schema, contributed, subscriptions, capacity, introspection, log } = deps;
  const { ceilings } = deps.query;
  const createDocuments = createGraphqlDocumentCaches({
    ...deps.limits,
    relations: ceilings.depth,
    nodes: ceilings.nodes,
    introspection,
  });
  const schemas = createGraphqlSchemaCache({
    schema,
    access,
    contributed,
    subscriptions,
    capacity,
    createDocuments,
    log,
  });
  const execution = { items, schema, ceilings, log, showsSuggestions: introspection };
  const execute = createOperationExecutor(execution);
  return {
    run: (scope, request, call) => answerGraphqlRequest({ schemas, execute }, scope, request, call),
    prepare: (request, call) => prepareGraphqlOperation({ schemas, execute, execution }, request, call),
    async sdl(caller, scope) {
      if (!introspection) throw fail('FORBIDDEN', 'introspection is off');
      const { schema: built } = await schemas.get(caller, scope);
      const text = printedSchemas.get(built) ?? printSchema(built);
      printedSchemas.set(built, text);
      return text;
    },
  };
}
