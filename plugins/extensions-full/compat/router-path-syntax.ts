import Router from 'router';

/** A wildcard without a name, with the optional slash before it. */
const ANYTHING = /\/?\*(?![\w{"])/g;
const OPTIONAL = /\/:(\w+)\?/g;

/**
 * Translates the path syntax of older routers into that of this one: `/:id?` becomes `{/:id}`, and `*` becomes
 * `{*rest}`. Newer syntax stays as it is.
 */
export function toCurrentRouterPathSyntax(path: unknown): unknown {
  if (Array.isArray(path)) return path.map(toCurrentRouterPathSyntax);
  if (typeof path !== 'string') return path;
  let more = 0;
  return path
    .replace(OPTIONAL, '{/:$1}')
    .replace(ANYTHING, (found) => `{${found.slice(0, -1)}*${more++ === 0 ? 'rest' : `rest${more}`}}`);
}

type Take = (...parts: unknown[]) => unknown;

/** A router that accepts both path syntaxes. */
export function createLegacyPathRouter(): Router.Router {
  const router = new Router({ mergeParams: true });
  const [route, use] = [router.route.bind(router) as Take, router.use.bind(router) as Take];
  return Object.assign(router, {
    route: (path: unknown) => route(toCurrentRouterPathSyntax(path)),
    use: (first: unknown, ...more: readonly unknown[]) => use(toCurrentRouterPathSyntax(first), ...more),
  }) as Router.Router;
}
