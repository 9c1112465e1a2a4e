import type { CatalogReading, CatalogSource } from '../catalog/source.ts';
import type { Overview } from '../contract.ts';

/** A schema snapshot and the state of the catalogs it was made from. */
export interface CachedSchema {
  readonly fingerprint: string;
  readonly digest: string;
  readonly schema: Overview;
}

const STORE_SIZE = 4;

/**
 * Schema snapshots by the state of the catalogs. A schema snapshot is a function of the fingerprint it was made under, so one that a unit of
 * work sees of its own uncommitted changes can be remembered beside the others without ever being served to a caller who does
 * not see them too.
 */
export class SchemaStore {
  /** The one that is right for callers outside of units of work. */
  current: CachedSchema | undefined;
  #recent: readonly CachedSchema[] = [];
  readonly #source: CatalogSource;
  readonly #build: (reading: CatalogReading) => Overview;

  constructor(source: CatalogSource, build: (reading: CatalogReading) => Overview) {
    this.#source = source;
    this.#build = build;
  }

  /** What the database looks like to this caller's connection. */
  async read(): Promise<CachedSchema> {
    if (this.current || this.#recent.length > 0) {
      const fingerprint = await this.#source.fingerprint();
      const known = this.#all().find((one) => one.fingerprint === fingerprint);
      if (known) return known;
    }
    const reading = await this.#source.read();
    const same = this.#all().find(({ digest }) => digest === reading.digest);
    const { fingerprint, digest } = reading;
    const cached = { fingerprint, digest, schema: same?.schema ?? this.#build(reading) };
    const others = this.#recent.filter((one) => one.fingerprint !== fingerprint);
    this.#recent = [cached, ...others].slice(0, STORE_SIZE);
    return cached;
  }

  clear(): void {
    this.#recent = [];
    this.current = undefined;
  }

  #all(): readonly CachedSchema[] {
    return this.current ? [this.current, ...this.#recent] : this.#recent;
  }
}
