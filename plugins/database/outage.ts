import type { Log } from '#kernel';

/** Milliseconds between two lines about one outage. */
const INTERVAL = 10_000;

/** Tells the log of an outage once, how many requests it takes while it lasts, and when it is over. */
export interface Outage {
  failed(error: unknown): void;
  reached(): void;
}

export function createOutage(log: Log): Outage {
  let since: number | undefined;
  let failures = 0;
  let told = 0;
  let timer: NodeJS.Timeout | undefined;

  function tell(): void {
    if (failures > told) log.warn({ more: failures - told }, 'there is still no connection to the database');
    told = failures;
  }

  return {
    failed(error) {
      failures++;
      if (since !== undefined) return;
      since = performance.now();
      told = failures;
      log.error({ reason: (error as Error).message }, 'no connection to the database');
      timer = setInterval(tell, INTERVAL).unref();
    },
    reached() {
      if (since === undefined) return;
      clearInterval(timer);
      const seconds = Math.round((performance.now() - since) / 1000);
      log.warn({ seconds, failures }, 'the database is reached again');
      since = undefined;
      failures = 0;
    },
  };
}
