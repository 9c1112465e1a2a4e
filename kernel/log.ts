import { pino, stdSerializers } from 'pino';
import { requestScope } from './context.ts';

export type Log = pino.Logger;

/** Values under these keys never reach the log, wherever they stand. */
const CENSORED: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'password',
  'access_token',
  'refresh_token',
  'token',
  'secret',
  'tfa_secret',
  'otp',
]);
/** What lies deeper is not worth a log line, and may be a circle. */
const DEEPEST = 8;

export interface LogOptions {
  readonly level: string;
  readonly style: 'pretty' | 'raw';
  readonly write?: (line: string) => void;
}

/** One JSON line per entry with `owner` and, inside a request, `request`; `pretty` is the same for human eyes. */
export function createLog({ level, style, write }: LogOptions): Log {
  const destination = write
    ? { write }
    : style === 'pretty'
      ? { write: pretty }
      : pino.destination({ dest: 1, sync: true });
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { log: (entry) => censored(entry, 0) as Record<string, unknown> },
      serializers: { err: (error) => censored(stdSerializers.err(error), 0) },
      mixin: () => {
        const scope = requestScope.getStore();
        return scope ? { request: scope.id } : {};
      },
    },
    destination,
  );
}

/** The same value where there is nothing to hide, which is nearly always. */
function censored(value: unknown, depth: number): unknown {
  if (value === null || typeof value !== 'object' || value instanceof Error) return value;
  if (depth > DEEPEST) return '--deep--';
  let copy: Record<string, unknown> | undefined;
  for (const [key, inner] of Object.entries(value)) {
    const shown = CENSORED.has(key.toLowerCase()) ? '--redact--' : censored(inner, depth + 1);
    if (shown === inner) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[key] = shown;
  }
  return copy ?? value;
}

const NAMES: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

function pretty(line: string): void {
  const { level, time, msg, owner, request, err, ...rest } = JSON.parse(line);
  const more = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const head = `${String(time).slice(11, 23)} ${NAMES[level] ?? level} ${owner ? `${owner}: ` : ''}${msg ?? ''}`;
  const text = [head, ...more, ...(request ? [`request=${request}`] : [])].join(' ');
  process.stdout.write(`${oneLine(text)}\n`);
  if (err?.stack) process.stdout.write(`${String(err.stack).split('\n').map(oneLine).join('\n')}\n`);
}

/** Nobody's text begins a line of its own, or talks to the terminal. */
const oneLine = (text: string): string =>
  text.replace(
    /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
