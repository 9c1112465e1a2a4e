import { pino, stdSerializers } from 'pino';
import { type RequestScope, requestScope } from './request-scope.ts';

/** A pino logger. Values under keys such as `password`, `token` and `cookie` are redacted, at any depth. */
export type Log = pino.Logger;

/** Values under keys that end so are never written, at any depth. */
const SECRET_KEYS =
  /(?:authorization|cookie|passw(?:or)?d|passphrase|token|secret|otp|credential|(?:api|access|private)[_-]?key)s?$/i;
/** Deeper values are left out: they may be circular. */
const MAX_DEPTH = 8;
const scopeOf = (scope?: RequestScope) => ({ request: scope?.id, trace_id: scope?.trace });

export interface LogOptions {
  readonly level: string;
  readonly style: 'pretty' | 'raw';
  /** Takes every line, instead of standard output. */
  readonly write?: (line: string) => void;
  /** Takes the lines of the style `pretty`; without it that style writes JSON lines as well. */
  readonly pretty?: (line: string) => void;
  /** The pino hook `logMethod`, which writes each line or leaves it out. */
  readonly logMethod?: NonNullable<pino.LoggerOptions['hooks']>['logMethod'];
}

/** Writes one JSON line per entry with `owner` and, inside a request, `request` and `trace_id`. */
export function createLog({ level, style, pretty, logMethod, ...rest }: LogOptions): Log {
  const write = rest.write ?? (style === 'pretty' ? pretty : undefined);
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { log: (entry) => redactSecrets(entry, 0) as Record<string, unknown> },
      serializers: { err: (error) => redactSecrets(stdSerializers.err(error), 0) },
      mixin: () => scopeOf(requestScope.getStore()),
      ...(logMethod ? { hooks: { logMethod } } : {}),
    },
    write ? { write } : pino.destination({ dest: 1, sync: true }),
  );
}

/** Replaces the values of secret keys. Returns the same object where there is nothing to hide, which is nearly always. */
function redactSecrets(value: unknown, depth: number): unknown {
  if (value === null || typeof value !== 'object' || value instanceof Error) return value;
  if (depth > MAX_DEPTH) return '--deep--';
  let copy: Record<string, unknown> | undefined;
  for (const [key, inner] of Object.entries(value)) {
    const shown = SECRET_KEYS.test(key) ? '--redact--' : redactSecrets(inner, depth + 1);
    if (shown === inner) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[key] = shown;
  }
  return copy ?? value;
}
