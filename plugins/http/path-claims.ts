import type { PathClaimKind, Route, RouteMount } from './contract.ts';

const firstSegment = (path: string): string => (path.split('/')[1] as string).toLowerCase();

interface Claims {
  readonly routes: readonly Route[];
  readonly mounts: readonly RouteMount[];
  readonly reserved: ReadonlySet<string>;
}

/** What already claims a path; undefined for a free one. */
export function pathClaimOf(path: string, { routes, mounts, reserved }: Claims): PathClaimKind | undefined {
  const segment = firstSegment(path);
  if (routes.some((route) => firstSegment(route.path) === segment)) return 'route';
  if (reserved.has(segment)) return 'reserved';
  return mounts.some((mount) => mount.path.toLowerCase() === path.toLowerCase()) ? 'mount' : undefined;
}
