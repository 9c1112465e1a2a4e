import { DiagLogLevel, diag } from '@opentelemetry/api';
import type { Log } from '#kernel';

/** Milliseconds in which a problem has one line, however often it occurs. */
const WINDOW = 60_000;
/** Different problems with a line in that time. */
const MAX_LINES = 10;
/** Characters of the longest problem, which may have a part of the answer of a collector. */
const MAX_LENGTH = 2000;

/** OpenTelemetry has one logger in a process: problems of traces and of metrics are written to the log that was added last. */
const logs = new Set<Log>();

/**
 * Writes problems that the libraries of OpenTelemetry report, such as failed exports, to a log. Returns the function that ends that;
 * other logs stay.
 */
export function addDiagnosticLog(log: Log): () => void {
  if (logs.size === 0) setLogger();
  logs.add(log);
  return () => {
    if (logs.delete(log) && logs.size === 0) diag.disable();
  };
}

function setLogger(): void {
  const report = createLimitedReport((about) => [...logs].at(-1)?.warn(about, 'OpenTelemetry reports a problem'));
  const ignore = () => {};
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** A collector that is away for hours fails every few seconds: repeated problems, and those over the limit, are counted only. */
function createLimitedReport(
  write: (about: { readonly reason: string; readonly omitted?: number }) => void,
): (text: string) => void {
  const reasons = new Set<string>();
  let end = 0;
  let omitted = 0;
  return (text) => {
    const reason = text.slice(0, MAX_LENGTH);
    const now = performance.now();
    if (now >= end) {
      reasons.clear();
      end = now + WINDOW;
    }
    if (reasons.has(reason) || reasons.size >= MAX_LINES) {
      omitted++;
      return;
    }
    reasons.add(reason);
    write(omitted === 0 ? { reason } : { reason, omitted });
    omitted = 0;
  };
}
