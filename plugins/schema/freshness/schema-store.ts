import type { CatalogReader, CatalogReadResult } from '../catalog/catalog-reader.ts';
import type { SchemaOverview } from '../contract.ts';

/** A schema snapshot with the state of the catalogs it was built from. */
export interface CachedSchema {
  readonly fingerprint: string;
  readonly digest: string;
  readonly schema: SchemaOverview;
}

const STORE_SIZE = 4;

/**
 * Stores recent schema snapshots by the fingerprint of the catalogs. A unit of work reads the fingerprint of its own
 * uncommitted changes, so its snapshot can be stored beside the others: no caller outside the unit has that
 * fingerprint.
 */
export class SchemaSnapshotStore {
  /** The snapshot for callers outside units of work. */
  current: CachedSchema | undefined;
  #recent: readonly CachedSchema[] = [];
  readonly #source: CatalogReader;
  readonly #build: (reading: CatalogReadResult) => SchemaOverview;

  constructor(source: CatalogReader, build: (reading: CatalogReadResult) => SchemaOverview) {
    this.#source = source;
    this.#build = build;
  }

  /** The schema as the connection of the caller sees it. */
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
