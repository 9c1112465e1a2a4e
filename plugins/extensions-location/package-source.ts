import type { Log } from '#kernel';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { PackageSource, SourcePackage } from '../extensions/contract.ts';
import { LoadFailure } from '../extensions/library.ts';
import type { PackageCache } from './package-cache.ts';
import type { PublishedPackage, PublishedPackages } from './published-packages.ts';

interface Deps {
  readonly published: Pick<PublishedPackages, 'list'>;
  readonly cache: PackageCache;
  readonly bus: Pick<InterProcessBus, 'onReconnect'>;
  readonly log: Pick<Log, 'error' | 'warn'>;
}

/** Milliseconds before the first further attempt and between two at most: each waits twice as long as the one before. */
const FIRST_PAUSE = 5000;
const MAX_PAUSE = 10 * 60 * 1000;

/** A source that also ends its timer. */
export interface LocationPackageSource extends PackageSource {
  stop(): void;
}

/**
 * Brings the published packages to this machine. A package that cannot be brought fails by itself: its previous version goes on where
 * this process has one, and the attempt is repeated.
 */
export function createLocationPackageSource({ published, cache, bus, log }: Deps): LocationPackageSource {
  let last: readonly SourcePackage[] = [];
  let onChange = () => {};
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isFirst = true;
  let pause = FIRST_PAUSE;
  let queue: Promise<unknown> = Promise.resolve();

  function retryLater(): void {
    if (isStopped || timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      onChange();
    }, pause);
    pause = Math.min(pause * 2, MAX_PAUSE);
    // The timer must not keep a process alive that has nothing else to do.
    timer.unref();
  }

  async function bringOne(one: PublishedPackage): Promise<SourcePackage> {
    const { name, version } = one;
    try {
      return { name, folder: await cache.folderOf(one) };
    } catch (error) {
      retryLater();
      const reason = error instanceof Error ? error.message : String(error);
      const before = last.find((other) => other.name === name && other.folder !== undefined);
      log.error(
        { extension: name },
        `${name} ${version} could not be brought from EXTENSIONS_LOCATION${before ? ', and the version before goes on' : ''}: ${reason}`,
      );
      return before ?? { name, failure: new LoadFailure('SOURCE_UNAVAILABLE', reason, { cause: error }) };
    }
  }

  async function bringAll(): Promise<readonly SourcePackage[]> {
    const all = await published.list();
    const brought: SourcePackage[] = [];
    for (const one of all) brought.push(await bringOne(one));
    if (isFirst)
      await cache.removeUnused(all).catch((error) => log.warn({ err: error }, 'old packages are not removed'));
    isFirst = false;
    if (brought.every((one, at) => one.folder?.includes((all[at] as PublishedPackage).archive))) pause = FIRST_PAUSE;
    return brought;
  }

  // The list of packages may have changed while messages were lost.
  bus.onReconnect(() => onChange());
  return {
    bring() {
      const run = queue.then(async () => {
        try {
          last = await bringAll();
        } catch (error) {
          log.error({ err: error }, 'the list of published packages cannot be read; those before go on');
          retryLater();
        }
        return last;
      });
      queue = run;
      return run;
    },
    watch(handle) {
      onChange = handle;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
