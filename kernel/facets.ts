import type { SchemaObject } from 'ajv';
import { fail } from './errors.ts';

export interface Contribution<T> {
  readonly owner: string;
  readonly value: T;
}

/**
 * A typed contribution point. The object is both key and type: whoever imports it may name it, only the plugin that
 * defines it may read it, and only plugins whose manifest lists its id under `contributes` may add to it.
 */
export interface Facet<T, R = readonly T[]> {
  readonly id: string;
  /** Turns all contributions, in plugin order, into what the owner reads. */
  combine(all: readonly Contribution<T>[]): R;
  /** JSON schema of the section a contributor writes under `contributes.<id>` in its manifest. */
  readonly manifest?: SchemaObject;
  /** Is this contribution within what the contributor's manifest declared? A string says why not. */
  admit?(value: T, declared: Declared): true | string;
  /** What the declared section means, in sentences for the audit. */
  describe?(declared: Declared): readonly string[];
}

// A manifest section: its shape was checked against `Facet.manifest` before any code of the contributor ran.
// biome-ignore lint/suspicious/noExplicitAny: the schema, not the type, guards this value
export type Declared = any;

type FacetOptions<T, R> = Partial<Omit<Facet<T, R>, 'id'>>;

export function facet<T>(id: string, options?: Omit<FacetOptions<T, readonly T[]>, 'combine'>): Facet<T>;
export function facet<T, R>(id: string, options: FacetOptions<T, R> & { combine: Facet<T, R>['combine'] }): Facet<T, R>;
export function facet<T>(id: string, options: FacetOptions<T, unknown> = {}): Facet<T, unknown> {
  return { combine: (all: readonly Contribution<T>[]) => all.map((one) => one.value), ...options, id };
}

/** All contributions by facet and owner; recombined on the next read after a change. */
export class FacetStore {
  readonly #entries = new Map<string, { facet: Facet<never, unknown>; owner: string; all: Contribution<unknown>[] }>();
  readonly #combined = new Map<string, unknown>();

  define(owner: string, defined: Facet<never, unknown>): void {
    if (this.#entries.has(defined.id)) throw fail('INTERNAL_SERVER_ERROR', `facet ${defined.id} is defined twice`);
    this.#entries.set(defined.id, { facet: defined, owner, all: [] });
  }

  definition(id: string): Facet<never, unknown> | undefined {
    return this.#entries.get(id)?.facet;
  }

  contribute<T>(owner: string, target: Facet<T, unknown>, value: T, declared: Declared): void {
    const entry = this.#entries.get(target.id);
    if (!entry) throw fail('CAPABILITY_DENIED', `${owner}: nobody defines the facet ${target.id}`);
    // The owner's rule, not that of the object at hand: a copy of the facet without one must not get past it.
    const verdict = (entry.facet as Facet<T, unknown>).admit?.(value, declared) ?? true;
    if (verdict !== true) throw fail('CAPABILITY_DENIED', `${owner}: contribution to ${target.id} refused: ${verdict}`);
    entry.all.push({ owner, value });
    this.#combined.delete(target.id);
  }

  read<R>(owner: string, target: Facet<never, R>): R {
    const entry = this.#entries.get(target.id);
    if (entry?.owner !== owner) throw fail('CAPABILITY_DENIED', `${owner} does not define the facet ${target.id}`);
    if (!this.#combined.has(target.id)) this.#combined.set(target.id, target.combine(entry.all as never));
    return this.#combined.get(target.id) as R;
  }

  removeOwner(owner: string): void {
    for (const [id, entry] of this.#entries) {
      if (entry.owner === owner) this.#entries.delete(id);
      else entry.all = entry.all.filter((one) => one.owner !== owner);
    }
    this.#combined.clear();
  }
}
