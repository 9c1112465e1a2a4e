const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/** Writes one JSON line of the log to standard output as text for people. For `BootOptions.prettyLog`. */
export const writePretty = (line: string): void => void process.stdout.write(renderLogLine(line));

/** One JSON line of the log as text: time, level, owner, message, further members, request; the stack of an error below. */
export function renderLogLine(line: string): string {
  const { level, time, msg, owner, request, err, ...rest } = JSON.parse(line);
  const more = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const head = `${String(time).slice(11, 23)} ${LEVELS[level] ?? level} ${owner ? `${owner}: ` : ''}${msg ?? ''}`;
  const text = [head, ...more, ...(request ? [`request=${request}`] : [])].join(' ');
  const stack: readonly string[] = err?.stack ? String(err.stack).split('\n') : [];
  return [text, ...stack].map((one) => `${escapeControls(one)}\n`).join('');
}

/** Escapes control characters, so that text from requests cannot begin a line in the terminal or send control sequences to it. */
const escapeControls = (text: string): string =>
  text.replace(
    /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
