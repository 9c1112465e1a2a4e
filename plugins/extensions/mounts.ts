import type { Log } from '#kernel';
import type { RouteMount, RoutingService } from '../http/contract.ts';
import { LoadFailure, type PackageMountRegistry } from './extension-types.ts';

interface Deps {
  readonly routing: Pick<RoutingService, 'claimOf'>;
  readonly contribute: (mount: RouteMount) => () => void;
  readonly log: Pick<Log, 'warn'>;
}

/** Why a confined package cannot answer under a name (conventions, "Mounting, order, collisions"). */
const COLLISIONS = {
  route: (name: string) => `the service itself answers under "${name}". Rename the extension.`,
  reserved: (name: string) => `the service keeps "${name}" for itself. Rename the extension.`,
  mount: (name: string) => `another extension answers under "${name}". Rename one of them.`,
} as const;

/**
 * Registers the paths of extensions behind all routes. A confined extension never shares a path; one with full
 * authority answers the requests under a taken path that no earlier handler answers.
 */
export const createPackageMountRegistry = ({ routing, contribute, log }: Deps): PackageMountRegistry => ({
  add({ path, owner, confined, handle, description }) {
    const name = path.toLowerCase().slice(1);
    const claim = routing.claimOf(path);
    if (confined && claim) throw new LoadFailure('ROUTE_COLLISION', COLLISIONS[claim](name));
    if (claim === 'route' || claim === 'mount') {
      log.warn({ extension: owner }, `"${name}" is taken: the extension answers only what no earlier handler answers`);
    }
    return contribute({ path, handle, description: { ...description, package: owner } });
  },
});
