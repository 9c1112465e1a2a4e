import { createRequire } from 'node:module';
import { fail } from '#kernel';
import type { AnsweringRoute, Route } from './contract.ts';
import { describedQueryParameterNamesOf } from './unknown-parameters.ts';

// The ESM build of @koa/router imports all of `http`, which loads an HTTP client of 13 MB; the CommonJS build does not.
const require = createRequire(import.meta.url);
const { Router } = require('@koa/router') as typeof import('@koa/router');

/** The members of a compiled route that matching needs. */
interface Layer {
  readonly regexp: RegExp;
  readonly paramNames: readonly { readonly name: string | number }[];
}

interface CompiledRoute {
  readonly layer: Layer;
  readonly route: Route;
  readonly parameters: ReadonlySet<string> | undefined;
  readonly answering: AnsweringRoute;
}

export interface RouteMatch extends Pick<CompiledRoute, 'answering'> {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  /** Names of the route's query parameters; undefined when it describes none. */
  readonly parameters: ReadonlySet<string> | undefined;
}

export type FindRoute = (method: string, path: string) => RouteMatch | undefined;

/**
 * Finds routes by method and path. @koa/router compiles the paths. Its own dispatch tries every route in turn; this one
 * tries only those with the same method and first segment, fewer parameters first: `/users/me` before `/users/:id`.
 * @param ownerOf the plugin that contributes a route
 */
export function createRouteFinder(
  routes: readonly Route[],
  ownerOf: (route: Route) => string | undefined = () => undefined,
): FindRoute {
  const router = new Router({ strict: false, sensitive: true });
  const table = new Map<string, CompiledRoute[]>();
  for (const route of routes) {
    const layer = router.register(route.path, [], () => {}) as unknown as Layer;
    const segment = firstSegment(route.path);
    const parameters = describedQueryParameterNamesOf(route);
    const answering = { path: route.path, owner: ownerOf(route) ?? 'unknown' };
    for (const method of route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]) {
      const key = `${method} ${/^[:*{]/.test(segment) ? '*' : segment}`;
      table.set(key, [...(table.get(key) ?? []), { layer, route, parameters, answering }]);
    }
  }
  for (const compiled of table.values()) compiled.sort((a, b) => a.layer.paramNames.length - b.layer.paramNames.length);

  const findIn = (key: string, path: string): RouteMatch | undefined => {
    for (const { layer, route, parameters, answering } of table.get(key) ?? []) {
      const captures = layer.regexp.exec(path);
      if (captures) return { route, parameters, answering, params: readParams(layer, captures) };
    }
    return undefined;
  };
  return (method, path) => {
    const segment = firstSegment(path);
    return findIn(`${method} ${segment}`, path) ?? findIn(`${method} *`, path) ?? findIn(`* ${segment}`, path);
  };
}

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1);
  return end === -1 ? path.slice(1) : path.slice(1, end);
}

function readParams({ paramNames }: Layer, captures: RegExpExecArray): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [at, { name }] of paramNames.entries()) {
    const value = captures[at + 1];
    if (value !== undefined) params[name] = decodeParameter(value);
  }
  return params;
}

function decodeParameter(text: string): string {
  let value = text;
  try {
    if (text.includes('%')) value = decodeURIComponent(text);
  } catch {
    throw fail('INVALID_PATH_PARAMETER', `"${text}" is not encoded correctly.`);
  }
  if (value.includes('\0')) throw fail('INVALID_PATH_PARAMETER', 'A part of the path contains a NUL character.');
  return value;
}
