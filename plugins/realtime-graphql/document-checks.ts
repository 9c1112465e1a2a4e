import { setImmediate as pause } from 'node:timers/promises';
import type { PERMISSIONS_CHANGED_CHANNEL } from '../access/contract.ts';
import type { USER_STATUS_CHANGED_CHANNEL } from '../auth/contract.ts';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { SchemaService } from '../schema/contract.ts';

/** Checks whether one document is still valid for its caller, and ends its subscription otherwise. Does not throw. */
export type DocumentCheck = () => Promise<void>;

/** The documents of open subscriptions, which are checked again when permissions, users or tables change. */
export interface DocumentChecks {
  /** Adds a document; the returned function removes it. */
  add(check: DocumentCheck): () => void;
  /** Begins to listen for changes. */
  start(): void;
}

interface Deps {
  readonly bus: Pick<InterProcessBus, 'subscribe' | 'onReconnect'>;
  readonly schema: Pick<SchemaService, 'onChange'>;
}

/** On these channels rights change. The compiler compares them with the contracts, whose values only users of the services import. */
const CHANNELS: readonly [typeof PERMISSIONS_CHANGED_CHANNEL, typeof USER_STATUS_CHANGED_CHANNEL] = [
  'access.changed',
  'auth.user-status',
];
/** Milliseconds in which changes are collected: an import of permissions is announced row by row. */
const DELAY = 50;
/** Checks after which other work of the process has its turn. */
const CHECKS_AT_ONCE = 50;

/**
 * While a caller lacks rights the engine delivers nothing, so a client would wait in vain. The check ends its subscription with the error
 * that a new one would get.
 */
export function createDocumentChecks({ bus, schema }: Deps): DocumentChecks {
  const checks = new Set<DocumentCheck>();
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;

  async function checkAll(): Promise<void> {
    timer = undefined;
    if (isRunning) return schedule();
    isRunning = true;
    let count = 0;
    for (const check of [...checks]) {
      if (++count % CHECKS_AT_ONCE === 0) await pause();
      await check();
    }
    isRunning = false;
  }

  function schedule(): void {
    if (timer || checks.size === 0) return;
    timer = setTimeout(() => void checkAll(), DELAY).unref();
  }

  return {
    add(check) {
      checks.add(check);
      return () => checks.delete(check);
    },
    start() {
      for (const channel of CHANNELS) bus.subscribe(channel, schedule);
      bus.onReconnect(schedule);
      schema.onChange(schedule);
    },
  };
}
