import { setTimeout as pause } from 'node:timers/promises';
import { fail, type Log } from '#kernel';
import type { InterProcessBus, ProcessPresence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import { quoteIdentifier } from '../database/library.ts';
import type { AnnouncedChange, RowFeed, WatchedTable } from './contract.ts';
import type { MessageQueue } from './message-queue.ts';
import { SentMarks } from './sent-marks.ts';
import type { WatchRegistry } from './watch-registry.ts';

interface Deps {
  readonly db: Db;
  readonly bus: Pick<InterProcessBus, 'subscribe' | 'onLost' | 'onReconnect'>;
  readonly presence: Pick<ProcessPresence, 'id' | 'findDead'>;
  readonly log: Log;
}

/** Attempts to put triggers on a table that another transaction holds, and the milliseconds between two of them. */
const ATTEMPTS = 5;
const BETWEEN_ATTEMPTS = 300;
const SWEEP_PERIOD = 60_000;
/** Milliseconds for which triggers stay when the last subscription has ended: clients come back. */
const LINGER = 60_000;
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';

/** See `RowFeed`. Its statements are loaded when a plugin listens; until then it holds nothing. */
export function createRowFeed({ db, bus, presence, log }: Deps): RowFeed {
  /** Relations by watched table; `left` is the time at which this process stopped to need it. */
  const watched = new Map<string, { relations: readonly number[]; left: number | undefined }>();
  const marks = new SentMarks();
  let parts: Promise<{ registry: WatchRegistry; markSql: string }> | undefined;
  let queue: MessageQueue | undefined;
  let sweepTimer: NodeJS.Timeout | undefined;

  const load = async () => {
    const [registry, { renderMessageIdSql, renderMessageSql }] = await Promise.all([
      import('./watch-registry.ts'),
      import('./trigger-function.ts'),
    ]);
    const idSql = renderMessageIdSql(quoteIdentifier(db.schemas[0] as string));
    const markSql = renderMessageSql(idSql, '0', 'mark');
    return { registry: new registry.WatchRegistry({ db, presence, log }), markSql };
  };
  const loadOnce = () => (parts ??= load());

  async function sweep(): Promise<void> {
    const now = Date.now();
    for (const [table, { left }] of watched) if (left !== undefined && now - left > LINGER) watched.delete(table);
    try {
      await (await loadOnce()).registry.sweep([...watched.values()].flatMap(({ relations }) => relations));
    } catch (error) {
      log.debug({ reason: (error as Error).message }, 'the tables whose changes are announced were not checked');
    }
  }

  return {
    async listen({ onChange, onGap }) {
      const [{ createMessageQueue }, { FEED_CHANNEL }] = await Promise.all([
        import('./message-queue.ts'),
        import('./trigger-function.ts'),
      ]);
      const receive = (change: AnnouncedChange) => {
        onChange(change);
        marks.receive(change);
      };
      const created = createMessageQueue({ db, log, onChange: receive, onGap });
      queue = created;
      bus.subscribe(FEED_CHANNEL, created.push);
      bus.onLost(created.clear);
      bus.onReconnect(onGap);
      // Triggers of processes that were killed may be there.
      sweepTimer = setInterval(() => void sweep(), SWEEP_PERIOD).unref();
      void sweep();
    },

    async watch(table) {
      const { registry } = await loadOnce();
      // What follows a position is known only with the announcement that changes before were not announced.
      const { relations, triggers } = await marks.arrival((mark) => watchWithRetries(registry, table, mark));
      watched.set(table.table, { relations, left: undefined });
      return { relations, triggers };
    },

    unwatch(table) {
      const found = watched.get(table);
      if (found) found.left = Date.now();
    },

    async mark() {
      const { markSql } = await loadOnce();
      await db.query(`select ${markSql}`);
    },

    removeTriggers: async () => (await loadOnce()).registry.removeTriggers(),

    async stop() {
      if (!queue) return;
      clearInterval(sweepTimer);
      queue.clear();
      watched.clear();
      await sweep();
    },
  };
}

/** Tries again while other transactions hold the table. @throws SERVICE_UNAVAILABLE after the last attempt, and other errors of `watch` */
async function watchWithRetries(registry: WatchRegistry, table: WatchedTable, mark: string) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await registry.watch(table, mark);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK) throw error;
      if (attempt === ATTEMPTS)
        throw fail('SERVICE_UNAVAILABLE', `${table.table} is locked, so its changes are not announced yet: try again`);
      await pause(BETWEEN_ATTEMPTS);
    }
  }
}
