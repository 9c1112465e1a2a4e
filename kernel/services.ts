import { satisfies } from 'semver';
import { BootFailure } from './lifecycle/failure.ts';

/** A typed key under which one plugin provides an object and others receive it. */
export interface Service<T> {
  readonly id: string;
  readonly version: string;
  /** Never set: carries the type. */
  readonly _type?: T;
}

/** `export const items = service<Items>('items', { version: '1.0.0' })` in a plugin's `contract.ts`. */
export const service = <T>(id: string, options: { version: string }): Service<T> => ({ id, version: options.version });

export type Services<Refs extends Record<string, Service<unknown>>> = {
  readonly [K in keyof Refs]: Refs[K] extends Service<infer T> ? T : never;
};

/** Holds what is provided; who may provide or use what is the `services` capability's matter. */
export class ServiceStore {
  readonly #provided = new Map<string, { owner: string; version: string; value: unknown }>();

  provide<T>(owner: string, ref: Service<T>, value: T): void {
    const other = this.#provided.get(ref.id);
    if (other) {
      throw new BootFailure(owner, 'register', `service ${ref.id} is already provided by ${other.owner}`, {
        remedy: 'remove one of the two plugins',
      });
    }
    this.#provided.set(ref.id, { owner, version: ref.version, value });
  }

  get<T>(user: string, ref: Service<T>, range: string): T {
    const found = this.#provided.get(ref.id);
    if (!found || !satisfies(found.version, range)) {
      throw new BootFailure(user, 'register', `service ${ref.id} ${range} is not provided`, {
        remedy: `add a plugin that provides ${ref.id} ${range}`,
      });
    }
    return found.value as T;
  }

  removeOwner(owner: string): void {
    for (const [id, entry] of this.#provided) if (entry.owner === owner) this.#provided.delete(id);
  }
}
