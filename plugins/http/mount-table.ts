import type { HttpContext, RouteMount } from './contract.ts';

/** Finds the route mounts of a path. Several mounts of one path stay in the order of their contribution. */
export class RouteMountTable {
  readonly #byPath = new Map<string, readonly RouteMount[]>();

  constructor(all: readonly RouteMount[]) {
    for (const mount of all) {
      const key = mount.path.toLowerCase();
      this.#byPath.set(key, [...(this.#byPath.get(key) ?? []), mount]);
    }
  }

  has(path: string): boolean {
    return this.#byPath.has(path.toLowerCase());
  }

  /** Passes the request from mount to mount while each calls `next`, and finally to `next`. */
  async handle(ctx: HttpContext, next: () => Promise<void>): Promise<void> {
    const mounts = this.#byPath.size === 0 ? [] : this.#mountsFor(ctx.path);
    const step = async (at: number): Promise<void> => {
      const mount = mounts[at];
      if (mount === undefined) return next();
      await handleMount(mount, ctx, () => step(at + 1));
    };
    await step(0);
  }

  #mountsFor(path: string): readonly RouteMount[] {
    const [, first = '', second] = segments(path);
    const scoped = first.startsWith('@') && second !== undefined ? this.#byPath.get(`/${first}/${second}`) : undefined;
    return scoped ?? this.#byPath.get(`/${first}`) ?? [];
  }
}

function handleMount(mount: RouteMount, ctx: HttpContext, next: () => Promise<void>): Promise<void> {
  const route = { path: `${mount.path}/*`, owner: mount.description?.package ?? 'unknown' };
  ctx.state.route = route;
  const { observation } = ctx.state;
  return observation?.runRoute ? observation.runRoute(route, () => mount.handle(ctx, next)) : mount.handle(ctx, next);
}

/** The first two segments, decoded and in lower case. */
function segments(path: string): readonly string[] {
  return path.split('/', 3).map((segment) => {
    try {
      return decodeURIComponent(segment).toLowerCase();
    } catch {
      return segment;
    }
  });
}
