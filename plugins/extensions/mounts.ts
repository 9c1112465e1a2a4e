import type { Log, Middleware } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { LoadFailure, type Mount, type Mounts } from './model.ts';

export interface MountTable extends Mounts {
  /** Answers what no route of the product took, and passes on what no extension takes either. */
  readonly layer: Middleware;
}

/**
 * Paths of the service (specification, "Endpoints") that no plugin serves yet: a confined endpoint that took one of them
 * would be gone with the version that does.
 */
const KEPT: ReadonlySet<string> = new Set(
  'admin assets files flows graphql operations schema settings shares utils versions websocket'.split(' '),
);

const firstOf = (path: string): string => path.split('/')[1] as string;

/**
 * Places under which extensions answer, behind all routes of the product and before "not found" (conventions, "Mounting,
 * order, collisions"). `taken` holds the first segments of the product's own routes, in lower case.
 */
export function createMounts(taken: () => ReadonlySet<string>, log: Pick<Log, 'warn'>): MountTable {
  const table = new Map<string, Mount[]>();

  const isTaken = (path: string) => taken().has(firstOf(path));

  return {
    add(mount) {
      const key = mount.path.toLowerCase();
      const others = table.get(key) ?? [];
      const name = key.slice(1);
      if (mount.confined && isTaken(key)) {
        throw new LoadFailure('ROUTE_COLLISION', `the service itself answers under "${name}". Rename the extension.`);
      }
      if (mount.confined && KEPT.has(firstOf(key))) {
        throw new LoadFailure('ROUTE_COLLISION', `the service keeps "${name}" for itself. Rename the extension.`);
      }
      if (mount.confined && others.length > 0) {
        throw new LoadFailure('ROUTE_COLLISION', `another extension answers under "${name}". Rename one of them.`);
      }
      if (isTaken(key) || others.length > 0) {
        log.warn({ extension: mount.owner }, `"${name}" is taken: the extension answers what nobody before it does`);
      }
      table.set(key, [...others, mount]);
      return () => {
        const rest = (table.get(key) ?? []).filter((one) => one !== mount);
        if (rest.length > 0) table.set(key, rest);
        else table.delete(key);
      };
    },
    layer: {
      name: 'extensions',
      phase: 'route',
      async handle(ctx, next) {
        const found = table.size === 0 ? [] : lookUp(table, ctx.path);
        // One after the other, as they were mounted: `next` of one leaves the request to the one behind it.
        const step = async (at: number): Promise<void> => {
          const mount = found[at];
          if (mount === undefined) return next();
          await mount.handle(ctx as unknown as HttpContext, () => step(at + 1));
        };
        await step(0);
      },
    },
  };
}

function lookUp(table: ReadonlyMap<string, readonly Mount[]>, path: string): readonly Mount[] {
  const [, first = '', second] = segments(path);
  const scoped = first.startsWith('@') && second !== undefined ? table.get(`/${first}/${second}`) : undefined;
  return scoped ?? table.get(`/${first}`) ?? [];
}

/** A name is matched without regard to case, and in either way of writing `@`. */
function segments(path: string): readonly string[] {
  return path.split('/', 3).map((segment) => {
    try {
      return decodeURIComponent(segment).toLowerCase();
    } catch {
      return segment;
    }
  });
}
