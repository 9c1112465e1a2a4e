import type { Log } from '#kernel';
import { BootFailure, boot, createLog } from '#kernel/boot';
import { findThrowingPackage } from '../plugins/extensions/library.ts';

// With LOG_STYLE=raw a program reads what the service writes, and parses each line as JSON.

const LEVELS = { stdout: 30, stderr: 40 } as const;

/**
 * Turns everything that this process writes beside its log into JSON lines, one for each write: `console` of packages, warnings of
 * Node, help of the command line, the password of the first admin. They do not depend on LOG_LEVEL.
 */
export function writeOnlyJsonLines(log: Log): void {
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    const write = stream.write.bind(stream) as (text: string, done?: () => void) => boolean;
    stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      const done = rest.find((one) => typeof one === 'function') as (() => void) | undefined;
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      return write(text.trim() === '' ? '' : renderWrittenText(name, text), done);
    }) as typeof stream.write;
  }
  // The listener of Node writes text around `process.stderr`.
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message, stack, ...warning }) => {
    const { code } = warning as { readonly code?: unknown };
    log.warn({ owner: 'kernel', warning: name, code, stack }, message);
  });
}

function renderWrittenText(stream: 'stdout' | 'stderr', text: string): string {
  const owner = findThrowingPackage(new Error()) ?? 'kernel';
  return `${JSON.stringify({ level: LEVELS[stream], time: new Date().toISOString(), owner, stream, msg: text.trim() })}\n`;
}

/** Why the process ends or does not start, as a line of the log. */
export function renderRawFailure(error: unknown): string {
  let line = '';
  const log = createLog({ level: 'fatal', style: 'raw', write: (one) => (line += one) });
  if (error instanceof BootFailure) {
    const { plugin, phase, message, remedy } = error;
    log.fatal({ owner: plugin, phase, reason: message, remedy }, 'Tenon could not start.');
  } else log.fatal({ owner: 'kernel', err: error }, 'the process ends after an error');
  return line;
}

/**
 * LOG_STYLE, where the service could not start and so has no settings: from the settings file and the environment, else from the
 * environment alone.
 */
export async function readLogStyle(): Promise<'pretty' | 'raw'> {
  const { LOG_STYLE, LOG_STYLE_FILE, CONFIG_PATH } = process.env;
  const own = { LOG_STYLE, LOG_STYLE_FILE };
  for (const environment of [
    { ...own, CONFIG_PATH },
    { ...own, CONFIG_PATH: '/dev/null' },
  ]) {
    try {
      // A kernel without plugins has the kernel's settings and no effect.
      return (await boot({ plugins: [] }, { environment, log: () => {} })).settings.value('LOG_STYLE');
    } catch {
      // Another setting of the file is wrong.
    }
  }
  return 'pretty';
}
