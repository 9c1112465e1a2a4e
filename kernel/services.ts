import { isCaller } from './caller.ts';
import { BootFailure } from './lifecycle/boot-failure.ts';

/** A typed key under which one plugin provides an object and others receive it. */
export interface ServiceKey<T> {
  readonly id: string;
  readonly version: string;
  /** Methods that take a caller, each with the index of that argument. The kernel denies a call whose argument is no minted caller. */
  readonly callers?: { readonly [M in keyof T]?: number };
  /** Third-party plugins may not use it. */
  readonly coreOnly?: true;
  /** Never set: carries the type. */
  readonly _type?: T;
}

/** Creates the key of a service, for a plugin's `contract.ts`: `service<Items>('items', { version: '1.0.0' })`. */
export const service = <T>(id: string, rest: Omit<ServiceKey<T>, 'id' | '_type'>): ServiceKey<T> => ({ id, ...rest });

export type InjectedServices<Refs extends Record<string, ServiceKey<unknown>>> = {
  readonly [K in keyof Refs]: Refs[K] extends ServiceKey<infer T> ? T : never;
};

type ProvidedService = { readonly owner: string; readonly ref: ServiceKey<unknown>; readonly value: unknown };

/** A plugin that uses a service. `deny` counts the denial and returns the error to throw. */
export type ServiceConsumer = { readonly name: string; readonly core: boolean; deny(what: string): Error };

/** The provided services; the `services` capability decides which plugin may provide or use one. */
export class ServiceStore {
  readonly #provided = new Map<string, ProvidedService>();

  provide<T>(owner: string, ref: ServiceKey<T>, value: T): void {
    this.#provided.set(ref.id, { owner, ref, value });
  }

  /** The object of the provider; or a view of it whose methods deny callers that the kernel did not mint. @throws CAPABILITY_DENIED */
  get(user: ServiceConsumer, id: string, range: string): unknown {
    const found = this.#provided.get(id);
    // Versions were compared when the plugins were ordered.
    if (!found) throw new BootFailure(user.name, 'register', `service ${id} ${range} is not provided`);
    // The provider's definition decides: the plugin that uses the service may have passed a copy of the key without rules.
    if (found.ref.coreOnly && !user.core) throw user.deny(`use ${id}, which is open to core plugins only`);
    // A third-party plugin gets a view, so that it cannot change the object for other plugins.
    return found.ref.callers || !user.core ? createGuardedView(found, user) : found.value;
  }

  removeOwner(owner: string): void {
    for (const [id, entry] of this.#provided) if (entry.owner === owner) this.#provided.delete(id);
  }
}

/** Wraps a service so that its methods deny callers that the kernel did not mint. Created once for each plugin that uses it. */
function createGuardedView({ ref, value }: ProvidedService, user: ServiceConsumer): unknown {
  const target = value as Record<string, unknown>;
  const positions = (ref.callers ?? {}) as Readonly<Record<string, number | undefined>>;
  const guard =
    (name: string, method: (...args: unknown[]) => unknown, at: number | undefined) =>
    (...args: unknown[]) => {
      if (at === undefined || isCaller(args[at])) return method.apply(target, args);
      throw user.deny(`call ${ref.id}.${name} with a caller that the kernel did not mint`);
    };
  const view: Record<string, unknown> = {};
  for (const name of memberNames(target)) {
    const member = target[name];
    if (typeof member === 'function') view[name] = guard(name, member as never, positions[name]);
    else Object.defineProperty(view, name, { enumerable: true, get: () => target[name] });
  }
  if (user.core) return Object.freeze(view);
  const set = (_view: object, name: string | symbol) => {
    throw user.deny(`set ${ref.id}.${String(name)}`);
  };
  return new Proxy(Object.freeze(view), { set, defineProperty: set });
}

/** Names of an object's members, those of its class included. */
function memberNames(target: object): ReadonlySet<string> {
  const names = new Set<string>();
  for (let one = target; one !== Object.prototype && one !== null; one = Object.getPrototypeOf(one)) {
    for (const name of Object.getOwnPropertyNames(one)) if (name !== 'constructor') names.add(name);
  }
  return names;
}
