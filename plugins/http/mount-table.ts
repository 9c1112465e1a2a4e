import type { AnsweringRoute, HttpContext, RouteMount } from './contract.ts';

/** A mount, and what logs and metrics know it by. */
interface Entry {
  readonly mount: RouteMount;
  readonly route: AnsweringRoute;
}

/** Finds the route mounts of a path. Several mounts of one path stay in the order of their contribution. */
export class RouteMountTable {
  readonly #byPath = new Map<string, readonly Entry[]>();

  constructor(all: readonly RouteMount[]) {
    for (const mount of all) {
      const key = mount.path.toLowerCase();
      const route = { path: `${mount.path}/*`, owner: mount.description?.package ?? 'unknown' };
      this.#byPath.set(key, [...(this.#byPath.get(key) ?? []), { mount, route }]);
    }
  }

  has(path: string): boolean {
    return this.#byPath.has(path.toLowerCase());
  }

  /** Passes the request from mount to mount while each calls `next`, and finally to `next`. */
  async handle(ctx: HttpContext, next: () => Promise<void>): Promise<void> {
    const mounts = this.#byPath.size === 0 ? [] : this.#mountsFor(ctx.path);
    const step = async (at: number): Promise<void> => {
      const entry = mounts[at];
      if (entry === undefined) return next();
      await handleMount(entry, ctx, () => step(at + 1));
    };
    await step(0);
  }

  #mountsFor(path: string): readonly Entry[] {
    const [, first = '', second] = segments(path);
    const scoped = first.startsWith('@') && second !== undefined ? this.#byPath.get(`/${first}/${second}`) : undefined;
    return scoped ?? this.#byPath.get(`/${first}`) ?? [];
  }
}

function handleMount({ mount, route }: Entry, ctx: HttpContext, next: () => Promise<void>): Promise<void> {
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
