import type { SchemaObject } from 'ajv';
import type { Authority } from './capabilities/capability.ts';
import { fail } from './errors.ts';
import { assertNoManifestProblems } from './lifecycle/boot-failure.ts';
import { findJsonSchemaProblems } from './manifest/schema-problems.ts';

export type FacetContribution<T> = { readonly owner: string; readonly value: T };

/**
 * A typed contribution point. Only the plugin that defines it reads it; plugins whose manifest lists its id under `contributes`
 * add to it, before or after its owner registers, and while the service runs.
 */
export interface Facet<T, R = readonly T[]> {
  readonly id: string;
  /** Turns all contributions, in plugin order, into what the owner reads. */
  combine(all: readonly FacetContribution<T>[]): R;
  /** JSON schema of the section a contributor writes under `contributes.<id>` in its manifest. */
  readonly manifest?: SchemaObject;
  /** True where the manifest of the contributor declares this contribution; else a string with the reason, for CAPABILITY_DENIED. */
  validate?(value: T, declared: ManifestSection): true | string;
  /** What the declared section means, for the audit. */
  describe?(declared: ManifestSection): readonly Authority[];
  /** Third-party plugins may not add to it. */
  readonly coreOnly?: true;
}

// A manifest section: its shape was checked against `Facet.manifest` before any code of the contributor ran.
// biome-ignore lint/suspicious/noExplicitAny: the schema, not the type, guards this value
export type ManifestSection = any;

/** The type of one contribution to a facet: `ContributionTo<typeof routes>`. */
export type ContributionTo<F> = F extends Facet<infer T, infer _R> ? T : never;

/** Creates a facet. Without `combine` its owner reads the list of values. */
export function facet<T>(id: string, options?: Partial<Omit<Facet<T>, 'id' | 'combine'>>): Facet<T>;
export function facet<T, R>(id: string, options: Omit<Facet<T, R>, 'id'>): Facet<T, R>;
export function facet<T>(id: string, options = {}): Facet<T, unknown> {
  return { combine: (all) => all.map((one) => one.value), ...options, id };
}

/** A plugin that contributes, and the section of its manifest about the facet. */
export interface Contributor {
  readonly name: string;
  readonly core: boolean;
  readonly declared: ManifestSection;
}

interface FacetEntry {
  /** Undefined until the owner registers: earlier contributions wait under the id. */
  definition?: { readonly facet: Facet<never, unknown>; readonly owner: string };
  all: (FacetContribution<unknown> & { readonly by: Contributor })[];
  /** Computed on the first read after a change. */
  combined?: { readonly value: unknown };
  readonly watchers: Set<() => void>;
}

/** All contributions by facet and owner. */
export class FacetStore {
  readonly #entries = new Map<string, FacetEntry>();
  readonly #changed = new Set<FacetEntry>();

  define(owner: string, defined: Facet<never, unknown>): void {
    const entry = this.#entry(defined.id);
    if (entry.definition) throw fail('INTERNAL_SERVER_ERROR', `facet ${defined.id} is defined twice`);
    entry.definition = { facet: defined, owner };
    entry.combined = undefined;
    for (const { by, value } of entry.all) assertContribution(entry, by, value);
  }

  definition(id: string): Facet<never, unknown> | undefined {
    return this.#entries.get(id)?.definition?.facet;
  }

  /** Returns the function that removes the contribution. @throws CAPABILITY_DENIED where `validate` of the facet refuses it. */
  contribute(id: string, value: unknown, by: Contributor): () => void {
    const entry = this.#entry(id);
    assertContribution(entry, by, value);
    const one = { owner: by.name, value, by };
    this.#replace(entry, [...entry.all, one]);
    return () => this.#remove(entry, (other) => other === one);
  }

  read<R>(owner: string, target: Facet<never, R>): R {
    const entry = this.#assertOwned(owner, target.id);
    entry.combined ??= { value: target.combine(entry.all as never) };
    return entry.combined.value as R;
  }

  /** Calls `handle` after each change of the facet's contributions; several in the same tick are announced together. */
  watch(owner: string, target: Facet<never, unknown>, handle: () => void): () => void {
    const { watchers } = this.#assertOwned(owner, target.id);
    watchers.add(handle);
    return () => void watchers.delete(handle);
  }

  /** Calls the watchers of changed facets now instead of in a microtask. */
  flush(): void {
    const entries = [...this.#changed];
    this.#changed.clear();
    for (const { watchers } of entries) for (const handle of watchers) handle();
  }

  removeOwner(owner: string): void {
    for (const entry of this.#entries.values()) {
      if (entry.definition?.owner === owner) {
        entry.definition = undefined;
        entry.watchers.clear();
      }
      this.#remove(entry, (one) => one.owner === owner);
    }
  }

  /** The number of contributions and definitions of `owner`: tests assert that an unloaded plugin leaves none. */
  countOf(owner: string): number {
    const owners = [...this.#entries.values()].flatMap(({ all, definition }) => [...all, definition ?? { owner: '' }]);
    return owners.filter((one) => one.owner === owner).length;
  }

  #entry(id: string): FacetEntry {
    const entry = this.#entries.get(id) ?? { all: [], watchers: new Set() };
    this.#entries.set(id, entry);
    return entry;
  }

  #assertOwned(owner: string, id: string): FacetEntry {
    const entry = this.#entries.get(id);
    if (entry?.definition?.owner !== owner) throw fail('CAPABILITY_DENIED', `${owner} does not define the facet ${id}`);
    return entry;
  }

  #remove(entry: FacetEntry, isGone: (one: FacetContribution<unknown>) => boolean): void {
    const kept = entry.all.filter((one) => !isGone(one));
    if (kept.length < entry.all.length) this.#replace(entry, kept);
  }

  #replace(entry: FacetEntry, all: FacetEntry['all']): void {
    entry.all = all;
    entry.combined = undefined;
    if (entry.watchers.size === 0) return;
    if (this.#changed.size === 0) queueMicrotask(() => this.flush());
    this.#changed.add(entry);
  }
}

/** Uses the facet as its owner defined it: the contributor may have passed a copy of the facet without rules. */
function assertContribution({ definition }: FacetEntry, { name, core, declared }: Contributor, value: unknown): void {
  if (!definition) return;
  const { facet: target } = definition;
  const refuse = (why: string) => fail('CAPABILITY_DENIED', `${name}: contribution to ${target.id} refused: ${why}`);
  if (target.coreOnly && !core) throw refuse('it is open to core plugins only');
  assertNoManifestProblems(name, findFacetProblems(target, declared));
  const verdict = (target as Facet<unknown, unknown>).validate?.(value, declared) ?? true;
  if (verdict !== true) throw refuse(verdict);
}

/** Problems of a section under `contributes`, one sentence each. */
export const findFacetProblems = ({ id, manifest }: Facet<never, unknown>, declared: object): readonly string[] =>
  manifest ? findJsonSchemaProblems(manifest, omitOptionalFlag(declared), `/contributes/${id}`) : [];

/** A section without `optional`, which the kernel reads: `optional: true` allows that the facet does not exist. */
export const omitOptionalFlag = ({ optional: _optional, ...section }: { optional?: unknown }): object => section;
