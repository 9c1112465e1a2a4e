import { fail } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import type { ContributedGraphqlField, GraphqlScope } from '../contract.ts';
import type { GraphqlEngine } from '../engine.ts';
import { GRAPHQL_SCOPE_SDL_DESCRIPTION, GRAPHQL_SDL_ROUTE_DESCRIPTION } from './route-descriptions.ts';

type LoadEngine = () => Promise<Pick<GraphqlEngine, 'sdl'>>;

/** The project name in file names (specification, "Server endpoints": an attachment `.graphql`). */
const PROJECT_NAME = 'Tenon';
const PATH = '/server/specs/graphql';

export function sdlRoutes(engine: LoadEngine): readonly Route[] {
  const send = async (ctx: HttpContext, scope: GraphqlScope): Promise<void> => {
    const text = await (await engine()).sdl(ctx.state.caller, scope);
    ctx.vary('Authorization');
    ctx.status = 200;
    ctx.attachment(`${PROJECT_NAME}_${new Date().toISOString().slice(0, 10)}.graphql`);
    ctx.type = 'text/plain; charset=utf-8';
    ctx.body = text;
  };
  return [
    { method: 'GET', path: PATH, description: GRAPHQL_SDL_ROUTE_DESCRIPTION, handle: (ctx) => send(ctx, 'items') },
    {
      method: 'GET',
      path: `${PATH}/:scope`,
      description: GRAPHQL_SCOPE_SDL_DESCRIPTION,
      handle(ctx) {
        const { scope } = ctx.params;
        if (scope !== 'items' && scope !== 'system')
          throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
        return send(ctx, scope);
      },
    },
  ];
}

/** The GraphQL field that answers the same text as these routes. */
export const sdlField = (engine: LoadEngine): ContributedGraphqlField => ({
  scope: 'system',
  operation: 'query',
  definition: 'server_specs_graphql(scope: graphql_sdl_scope): String',
  types: 'enum graphql_sdl_scope { items system }',
  resolve: async ({ scope }, { caller }) =>
    (await engine()).sdl(caller, (scope as GraphqlScope | null | undefined) ?? 'items'),
});
