import type { Log } from '#kernel';

/** Milliseconds between two log lines about one outage. */
const INTERVAL = 10_000;

/** Logs the start and the end of an outage once each, and meanwhile how many requests have failed. */
export interface OutageLog {
  failed(error: unknown): void;
  recovered(): void;
}

export function createOutageLog(log: Log): OutageLog {
  let since: number | undefined;
  let failures = 0;
  let reported = 0;
  let timer: NodeJS.Timeout | undefined;

  function report(): void {
    if (failures > reported) log.warn({ more: failures - reported }, 'there is still no connection to the database');
    reported = failures;
  }

  return {
    failed(error) {
      failures++;
      if (since !== undefined) return;
      since = performance.now();
      reported = failures;
      log.error({ reason: (error as Error).message }, 'no connection to the database');
      timer = setInterval(report, INTERVAL).unref();
    },
    recovered() {
      if (since === undefined) return;
      clearInterval(timer);
      const seconds = Math.round((performance.now() - since) / 1000);
      log.warn({ seconds, failures }, 'the database is reached again');
      since = undefined;
      failures = 0;
    },
  };
}
