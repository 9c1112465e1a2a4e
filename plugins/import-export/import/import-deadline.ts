import { fail } from '#kernel';

/** Ends an import when its time is over or its client leaves. */
export interface ImportDeadline {
  readonly signal: AbortSignal;
  /** Call it when the import has ended. */
  clear(): void;
}

/** `timeout` in milliseconds. The signal aborts with OUT_OF_TIME, or with the reason of `clientSignal`. */
export function createImportDeadline(timeout: number, clientSignal: AbortSignal | undefined): ImportDeadline {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    const text = `The import took longer than ${timeout} ms, so nothing of it was written.`;
    controller.abort(fail('OUT_OF_TIME', text, { category: 'import', duration: timeout }));
  }, timeout);
  const { signal } = controller;
  return {
    signal: clientSignal ? AbortSignal.any([signal, clientSignal]) : signal,
    clear: () => clearTimeout(timer),
  };
}
