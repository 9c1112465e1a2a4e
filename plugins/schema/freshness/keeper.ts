import type { Log } from '#kernel';
import type { Reading, Source } from '../catalog/source.ts';
import type { Overview } from '../contract.ts';

/** An overview and the state of the catalogs it was made from. */
interface Known {
  readonly fingerprint: string;
  readonly digest: string;
  readonly overview: Overview;
}

interface Deps {
  readonly source: Source;
  readonly build: (reading: Reading) => Overview;
  /** Is a unit of work open around the caller? */
  readonly inUnit: () => boolean;
  readonly log: Log;
}

export interface Keeper {
  overview(): Promise<Overview>;
  /** Compares with the database, whatever was announced. */
  refresh(): Promise<Overview>;
  onChange(handle: (overview: Overview) => void): void;
  /** Something may have changed: whoever asks from now on waits until that is known. */
  heard(): void;
  /** What overviews are made of beside the database has changed: none that is remembered is right any more. */
  rebuild(): void;
  /** From now on changes are announced by calls of `heard`, so that nobody needs to look. */
  trustAnnouncements(): void;
  /** Until `settled` is called, overviews inside units of work are checked on their own connection. */
  unsettled(): { settled(): void };
}

const REMEMBERED = 4;

/**
 * Holds the overview and knows whether it is still right. An overview is a function of the fingerprint it was made
 * under, so one that a unit of work sees of its own uncommitted changes can be remembered beside the others without
 * ever being served to anybody who does not see them too.
 */
export function createKeeper({ source, build, inUnit, log }: Deps): Keeper {
  let remembered: readonly Known[] = [];
  let current: Known | undefined;
  let announced = false;
  let messages = 0;
  let answered = 0;
  let running: Promise<Overview> | undefined;
  let waiting: Promise<Overview> | undefined;
  const unsettled = new Set<object>();
  const handlers: ((overview: Overview) => void)[] = [];

  const candidates = () => (current ? [current, ...remembered] : remembered);

  /** What the database looks like to this caller's connection. */
  async function look(): Promise<Known> {
    if (current || remembered.length > 0) {
      const fingerprint = await source.fingerprint();
      const known = candidates().find((one) => one.fingerprint === fingerprint);
      if (known) return known;
    }
    const reading = await source.read();
    const same = candidates().find(({ digest }) => digest === reading.digest);
    const { fingerprint, digest } = reading;
    const known = { fingerprint, digest, overview: same?.overview ?? build(reading) };
    remembered = [known, ...remembered.filter((one) => one.fingerprint !== fingerprint)].slice(0, REMEMBERED);
    return known;
  }

  async function lookForAll(): Promise<Overview> {
    const before = messages;
    const known = await look();
    answered = before;
    const changed = current?.overview.version !== known.overview.version;
    current = known;
    if (changed) for (const handle of handlers) tell(handle, known.overview);
    return known.overview;
  }

  function tell(handle: (overview: Overview) => void, overview: Overview): void {
    try {
      handle(overview);
    } catch (error) {
      log.error({ err: error }, 'a listener to schema changes failed');
    }
  }

  /** Answers from a look that began after the call; calls at the same time share it. */
  function check(): Promise<Overview> {
    if (waiting) return waiting;
    if (!running) return begin();
    waiting = running.then(begin, begin);
    return waiting;
  }

  function begin(): Promise<Overview> {
    waiting = undefined;
    const look = lookForAll();
    running = look;
    const end = () => {
      if (running === look) running = undefined;
    };
    look.then(end, end);
    return look;
  }

  function heard(): void {
    messages++;
    if (!inUnit())
      check().catch((error) =>
        log.warn({ reason: (error as Error).message }, 'reading the schema failed; the next request tries again'),
      );
  }

  return {
    async overview() {
      if (announced && current && answered === messages && unsettled.size === 0) return current.overview;
      if (inUnit()) return (await look()).overview;
      if (announced && current && answered === messages) return current.overview;
      return check();
    },
    async refresh() {
      return inUnit() ? (await look()).overview : check();
    },
    onChange: (handle) => void handlers.push(handle),
    heard,
    rebuild() {
      remembered = [];
      current = undefined;
      heard();
    },
    trustAnnouncements() {
      announced = true;
    },
    unsettled() {
      const token = {};
      unsettled.add(token);
      return { settled: () => void unsettled.delete(token) };
    },
  };
}
