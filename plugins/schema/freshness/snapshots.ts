import type { Reading, Source } from '../catalog/source.ts';
import type { Overview } from '../contract.ts';

/** An overview and the state of the catalogs it was made from. */
export interface Snapshot {
  readonly fingerprint: string;
  readonly digest: string;
  readonly overview: Overview;
}

const REMEMBERED = 4;

/**
 * Overviews by the state of the catalogs. An overview is a function of the fingerprint it was made under, so one that a unit of
 * work sees of its own uncommitted changes can be remembered beside the others without ever being served to a caller who does
 * not see them too.
 */
export class Snapshots {
  /** The one that is right for callers outside of units of work. */
  current: Snapshot | undefined;
  #remembered: readonly Snapshot[] = [];
  readonly #source: Source;
  readonly #build: (reading: Reading) => Overview;

  constructor(source: Source, build: (reading: Reading) => Overview) {
    this.#source = source;
    this.#build = build;
  }

  /** What the database looks like to this caller's connection. */
  async look(): Promise<Snapshot> {
    if (this.current || this.#remembered.length > 0) {
      const fingerprint = await this.#source.fingerprint();
      const known = this.#all().find((one) => one.fingerprint === fingerprint);
      if (known) return known;
    }
    const reading = await this.#source.read();
    const same = this.#all().find(({ digest }) => digest === reading.digest);
    const { fingerprint, digest } = reading;
    const snapshot = { fingerprint, digest, overview: same?.overview ?? this.#build(reading) };
    const others = this.#remembered.filter((one) => one.fingerprint !== fingerprint);
    this.#remembered = [snapshot, ...others].slice(0, REMEMBERED);
    return snapshot;
  }

  forget(): void {
    this.#remembered = [];
    this.current = undefined;
  }

  #all(): readonly Snapshot[] {
    return this.current ? [this.current, ...this.#remembered] : this.#remembered;
  }
}
