import { Failure, type Log } from '#kernel';

/** Milliseconds between two lines about one code: any client, also one without a token, can cause any number. */
const INTERVAL = 10_000;

/** Logs why a request was answered 503, which is no bug: its stack does not help. */
export function createUnavailableLog(log: Log): (error: unknown) => void {
  const last = new Map<string, number>();
  return (error) => {
    const { code, detail } = error instanceof Failure ? error : { code: 'SERVICE_UNAVAILABLE', detail: String(error) };
    const now = performance.now();
    if (now - (last.get(code) ?? -INTERVAL) < INTERVAL) return;
    last.set(code, now);
    log.error({ code, detail }, 'SCIM requests cannot be answered');
  };
}
