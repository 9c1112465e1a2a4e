import type { Host } from '#kernel';
import { type RequestObserver, requestObservers, routeMounts, routes } from './contract.ts';
import { RouteMountTable } from './mount-table.ts';
import { createRouteFinder, type FindRoute } from './router.ts';

/** What is contributed to the facets of this plugin, in the form that requests need. */
export interface RouteTables {
  readonly findRoute: FindRoute;
  /** Finds routes whose answers depend on headers. */
  readonly findHeaderRoute: FindRoute;
  readonly mounts: () => RouteMountTable;
  /** Undefined while requests are not observed. */
  readonly observer: () => RequestObserver | undefined;
}

/**
 * The tables are built at the start, when every plugin has contributed its routes. A change replaces a table as a whole, so a request
 * sees the routes of before or after the change.
 */
export function createRouteTables({ onStart, read, watch }: Pick<Host, 'onStart' | 'read' | 'watch'>): RouteTables {
  let findRoute: FindRoute = () => undefined;
  let findHeaderRoute: FindRoute = () => undefined;
  let mountTable = new RouteMountTable([]);
  let observer: RequestObserver | undefined;

  const updateRoutes = () => {
    const owners = new Map(read(routes).map(({ owner, value }) => [value, owner]));
    const all = [...owners.keys()];
    findRoute = createRouteFinder(all, (route) => owners.get(route));
    findHeaderRoute = createRouteFinder(all.filter(({ dependsOnHeaders }) => dependsOnHeaders));
  };
  const updateMounts = () => {
    mountTable = new RouteMountTable(read(routeMounts));
  };
  const updateObserver = () => {
    observer = read(requestObservers);
  };
  onStart(() => {
    updateRoutes();
    updateMounts();
    updateObserver();
    watch(routes, updateRoutes);
    watch(routeMounts, updateMounts);
    watch(requestObservers, updateObserver);
  });
  return {
    findRoute: (method, path) => findRoute(method, path),
    findHeaderRoute: (method, path) => findHeaderRoute(method, path),
    mounts: () => mountTable,
    observer: () => observer,
  };
}
