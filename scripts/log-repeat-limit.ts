import type { LogOptions } from '../kernel/log.ts';

/** Lines of warnings and errors with the same text and cause that are written in one window. */
const OFTEN = 10;
/** Length of a window in milliseconds. */
const WINDOW = 10_000;
const WARN = 40;

type LogMethod = NonNullable<LogOptions['logMethod']>;

/**
 * Creates a limit for log lines about failures that clients can cause at will: in ten seconds ten lines of each, and one line
 * that says how many more there were. For `BootOptions.logMethod`.
 */
export function createRepeatedLogLimiter(window = WINDOW): LogMethod {
  const counts = new Map<string, number>();
  return function logMethod(args, method, level) {
    if (level < WARN) return method.apply(this, args);
    const [about, text = about] = args as readonly unknown[];
    const cause = `${String(text)}\n${causeOf(about)}`;
    const count = (counts.get(cause) ?? 0) + 1;
    counts.set(cause, count);
    if (count <= OFTEN) method.apply(this, args);
    if (count > 1) return;
    const end = () => {
      const more = (counts.get(cause) ?? 0) - OFTEN;
      counts.delete(cause);
      if (more > 0) method.apply(this, [{ more }, `${String(text)} (and ${more} more in ${window / 1000} s)`] as never);
    };
    setTimeout(end, window).unref();
  };
}

/** The cause of an error: its code and its place in the code, of which there are only so many, and nothing that a client sent. */
function causeOf(about: unknown): string {
  const { err, detail } = Object(about) as { err?: unknown; detail?: unknown };
  const { code, stack } = Object(err) as { code?: unknown; stack?: unknown };
  const frame = /\n\s+at (?!fail )[^\n]*/.exec(String(stack))?.[0] ?? '';
  return `${String(code)}${frame}${err === undefined && typeof detail === 'string' ? detail.slice(0, 20) : ''}`;
}
