import type { Log } from '#kernel';
import { coalesce } from '../../cluster/library.ts';
import type { Reading, Source } from '../catalog/source.ts';
import type { Overview } from '../contract.ts';
import { Snapshots } from './snapshots.ts';

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
  /** Whether announcements arrive at the moment: while they do not, every request looks. */
  listening(arrives: boolean): void;
  /** Until `settled` is called, overviews inside units of work are checked on their own connection. */
  unsettled(): { settled(): void };
}

/** Holds the overview and knows whether it is still right. */
export function createKeeper({ source, build, inUnit, log }: Deps): Keeper {
  const snapshots = new Snapshots(source, build);
  let trusts = false;
  let arrives = true;
  /** Both of them. */
  let announced = false;
  let messages = 0;
  let answered = 0;
  const unsettled = new Set<object>();
  const handlers: ((overview: Overview) => void)[] = [];

  /** Answers from a look that began after the call; calls at the same time share it. */
  const check = coalesce(lookForAll);

  async function lookForAll(): Promise<Overview> {
    const before = messages;
    const known = await snapshots.look();
    answered = before;
    const changed = snapshots.current?.overview.version !== known.overview.version;
    snapshots.current = known;
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

  function heard(): void {
    messages++;
    if (!inUnit())
      check().catch((error) =>
        log.warn({ reason: (error as Error).message }, 'reading the schema failed; the next request tries again'),
      );
  }

  return {
    async overview() {
      const { current } = snapshots;
      if (announced && current && answered === messages && unsettled.size === 0) return current.overview;
      if (inUnit()) return (await snapshots.look()).overview;
      if (announced && current && answered === messages) return current.overview;
      return check();
    },
    async refresh() {
      return inUnit() ? (await snapshots.look()).overview : check();
    },
    onChange: (handle) => void handlers.push(handle),
    heard,
    rebuild() {
      snapshots.forget();
      heard();
    },
    trustAnnouncements() {
      trusts = true;
      announced = arrives;
    },
    listening(does) {
      arrives = does;
      announced = trusts && arrives;
      if (arrives) heard();
    },
    unsettled() {
      const token = {};
      unsettled.add(token);
      return { settled: () => void unsettled.delete(token) };
    },
  };
}
