import { pino } from 'pino';
import { requestScope } from './context.ts';

export type Log = pino.Logger;

/** Values under these keys never reach the log, wherever they stand. */
const REDACTED = [
  'authorization',
  'cookie',
  'password',
  'access_token',
  'refresh_token',
  'token',
  'secret',
  'tfa_secret',
  'otp',
];

export interface LogOptions {
  readonly level: string;
  readonly style: 'pretty' | 'raw';
  readonly write?: (line: string) => void;
}

/** One JSON line per entry with `owner` and, inside a request, `request`; `pretty` is the same for human eyes. */
export function createLog({ level, style, write }: LogOptions): Log {
  const destination = write ? { write } : style === 'pretty' ? { write: pretty } : pino.destination({ dest: 1, sync: true });
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: REDACTED.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '--redact--' },
      mixin: () => {
        const scope = requestScope.getStore();
        return scope ? { request: scope.id } : {};
      },
    },
    destination,
  );
}

const NAMES: Readonly<Record<number, string>> = { 10: 'TRACE', 20: 'DEBUG', 30: 'INFO', 40: 'WARN', 50: 'ERROR', 60: 'FATAL' };

function pretty(line: string): void {
  const { level, time, msg, owner, request, err, ...rest } = JSON.parse(line);
  const more = Object.entries(rest).map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const head = `${String(time).slice(11, 23)} ${NAMES[level] ?? level} ${owner ? `${owner}: ` : ''}${msg ?? ''}`;
  process.stdout.write(`${[head, ...more, ...(request ? [`request=${request}`] : [])].join(' ')}\n`);
  if (err?.stack) process.stdout.write(`${err.stack}\n`);
}
