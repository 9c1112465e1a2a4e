import { type GraphQLSchema, printSchema } from 'graphql';
import { type Caller, fail } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import type { GraphqlField, GraphqlScope } from '../contract.ts';
import type { Schemas } from '../schema/schemas.ts';
import { SDL, SDL_OF_SCOPE } from './descriptions.ts';

export interface SdlDeps {
  readonly schemas: Pick<Schemas, 'of'>;
  readonly introspection: boolean;
}

/** What a service without settings is called. */
const PROJECT_NAME = 'Tenon';
const PATH = '/server/specs/graphql';

/** Schemas that were printed: large ones take long. */
const printed = new WeakMap<GraphQLSchema, string>();

/** The caller's own schema in the schema language. */
async function sdlOf({ schemas, introspection }: SdlDeps, caller: Caller, scope: GraphqlScope): Promise<string> {
  if (!introspection) throw fail('FORBIDDEN', 'introspection is off');
  const { schema } = await schemas.of(caller, scope);
  const text = printed.get(schema) ?? printSchema(schema);
  printed.set(schema, text);
  return text;
}

export function sdlRoutes(deps: SdlDeps): readonly Route[] {
  const send = async (ctx: HttpContext, scope: GraphqlScope): Promise<void> => {
    const text = await sdlOf(deps, ctx.state.caller, scope);
    ctx.vary('Authorization');
    ctx.status = 200;
    ctx.attachment(`${PROJECT_NAME}_${new Date().toISOString().slice(0, 10)}.graphql`);
    ctx.type = 'text/plain; charset=utf-8';
    ctx.body = text;
  };
  return [
    { method: 'GET', path: PATH, description: SDL, handle: (ctx) => send(ctx, 'items') },
    {
      method: 'GET',
      path: `${PATH}/:scope`,
      description: SDL_OF_SCOPE,
      handle(ctx) {
        const { scope } = ctx.params;
        if (scope !== 'items' && scope !== 'system')
          throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
        return send(ctx, scope);
      },
    },
  ];
}

/** The same as a field of the root. */
export const sdlField = (deps: SdlDeps): GraphqlField => ({
  scope: 'system',
  operation: 'query',
  definition: 'server_specs_graphql(scope: graphql_sdl_scope): String',
  types: 'enum graphql_sdl_scope { items system }',
  resolve: ({ scope }, { caller }) => sdlOf(deps, caller, (scope as GraphqlScope | null | undefined) ?? 'items'),
});
