import type { RowFeed } from '../../row-feed/contract.ts';
import type { ChangeLog } from '../changes/change-log.ts';

/** Sees to it that there is a position to tell clients: without any change since the start there is none. */
export interface Positions {
  /** Resolves when there is one, or after a second: then a client that comes back reads again. */
  known(): Promise<void>;
  /** A mark has arrived. */
  arrived(): void;
}

const LONGEST_WAIT = 1000;

export function createPositions(log: ChangeLog, rowFeed: Pick<RowFeed, 'mark'>): Positions {
  let waiting: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  async function wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting = { promise, resolve };
    const timer = setTimeout(resolve, LONGEST_WAIT).unref();
    rowFeed.mark().catch(resolve);
    await promise;
    clearTimeout(timer);
    waiting = undefined;
  }

  return {
    async known() {
      if (log.lastId === '') await (waiting?.promise ?? wait());
    },
    arrived: () => waiting?.resolve(),
  };
}
