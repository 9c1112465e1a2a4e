import { type GraphQLSchema, printSchema } from 'graphql';
import { type Caller, fail, type Log } from '#kernel';
import type { Access } from '../access/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import type { Items } from '../items/contract.ts';
import type { Query } from '../query/contract.ts';
import type { Schema } from '../schema/contract.ts';
import type { GraphqlScope } from './contract.ts';
import { createDocuments } from './document/documents.ts';
import type { Answer } from './execute/answer.ts';
import { createExecute } from './execute/execute.ts';
import type { GraphqlRequest } from './http/request.ts';
import { run } from './http/run.ts';
import type { Contributed } from './schema/contributed.ts';
import { createSchemas } from './schema/schemas.ts';

/** What answers documents. It is loaded with the first of them: the library and the schemas are a tenth of all code. */
export interface Engine {
  /** Answers one request. What is wrong before anything of it runs is a DocumentFailure. */
  run(scope: GraphqlScope, request: GraphqlRequest, ctx: HttpContext): Promise<Answer>;
  /** The caller's own schema in the schema language. */
  sdl(caller: Caller, scope: GraphqlScope): Promise<string>;
}

export interface EngineDeps {
  readonly access: Access;
  readonly items: Items;
  readonly query: Pick<Query, 'ceilings'>;
  readonly schema: Schema;
  /** The same list until a field is added or taken away: schemas are kept by it. */
  readonly contributed: () => Contributed;
  readonly limits: { readonly tokens: number; readonly aliases: number; readonly rootFields: number };
  /** How many schemas are kept. */
  readonly capacity: number;
  readonly introspection: boolean;
  readonly log: Log;
}

/** Schemas that were printed: large ones take long. */
const printed = new WeakMap<GraphQLSchema, string>();

export function createEngine(deps: EngineDeps): Engine {
  const { access, items, schema, contributed, capacity, introspection, log } = deps;
  const { ceilings } = deps.query;
  const makeDocuments = createDocuments({
    ...deps.limits,
    relations: ceilings.depth,
    nodes: ceilings.nodes,
    introspection,
  });
  const schemas = createSchemas({ schema, access, contributed, capacity, makeDocuments, log });
  const execute = createExecute({ items, schema, ceilings, log, suggests: introspection });
  return {
    run: (scope, request, ctx) => run({ schemas, execute }, scope, request, ctx),
    async sdl(caller, scope) {
      if (!introspection) throw fail('FORBIDDEN', 'introspection is off');
      const { schema: built } = await schemas.of(caller, scope);
      const text = printed.get(built) ?? printSchema(built);
      printed.set(built, text);
      return text;
    },
  };
}
