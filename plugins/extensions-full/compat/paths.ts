import Router from 'router';

/** What stands for anything, unless a name follows; with the slash before it, which may be missing as well. */
const ANYTHING = /\/?\*(?![\w{"])/g;
const OPTIONAL = /\/:(\w+)\?/g;

/**
 * A path as older routers of this form knew it, in the way of this one: `/:id?` is `{/:id}`, and `*` is `{*rest}`. What is
 * written in the newer way stays as it is.
 */
export function toRouterPath(path: unknown): unknown {
  if (Array.isArray(path)) return path.map(toRouterPath);
  if (typeof path !== 'string') return path;
  let more = 0;
  return path
    .replace(OPTIONAL, '{/:$1}')
    .replace(ANYTHING, (found) => `{${found.slice(0, -1)}*${more++ === 0 ? 'rest' : `rest${more}`}}`);
}

type Take = (...parts: unknown[]) => unknown;

/** A router that takes paths of both ways. */
export function createRouter(): Router.Router {
  const router = new Router({ mergeParams: true });
  const [route, use] = [router.route.bind(router) as Take, router.use.bind(router) as Take];
  return Object.assign(router, {
    route: (path: unknown) => route(toRouterPath(path)),
    use: (first: unknown, ...more: readonly unknown[]) => use(toRouterPath(first), ...more),
  }) as Router.Router;
}
