import { Refusal } from '#kernel';

/** Calls of one package that are at work at a time: there are few connections, and they are everybody's. */
const MOST = 4;

interface Line {
  busy: number;
  readonly waiting: Set<() => void>;
}

export type Turns = <T>(name: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** Who comes first is served first, by package. A call that nobody waits for any more leaves the line. */
export function createTurns(most = MOST): Turns {
  const lines = new Map<string, Line>();

  async function enter(line: Line, signal: AbortSignal): Promise<void> {
    if (line.busy < most) {
      line.busy++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        line.waiting.delete(next);
        reject(new Refusal('timeout', 'The call had no turn in time.'));
      };
      const next = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      line.waiting.add(next);
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
    });
  }

  return async (name, signal, work) => {
    const line = lines.get(name) ?? { busy: 0, waiting: new Set() };
    lines.set(name, line);
    await enter(line, signal);
    try {
      return await work();
    } finally {
      const [next] = line.waiting;
      if (next) {
        line.waiting.delete(next);
        next();
      } else if (--line.busy === 0) lines.delete(name);
    }
  };
}
