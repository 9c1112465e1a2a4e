import { fail } from '#kernel';

/** How long a reader waits for its turn: as long as others wait for a connection. */
const LONGEST_WAIT = 10_000;

/** So many at a time; those who come later wait in line, and are sent away when that takes too long. */
export function createTurns(most: number): (signal?: AbortSignal) => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let taken = 0;
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else taken--;
  };

  return async (signal) => {
    signal?.throwIfAborted();
    if (taken < most) {
      taken++;
      return leave;
    }
    await new Promise<void>((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', gone);
      };
      const turn = () => {
        settle();
        resolve();
      };
      const refuse = (reason: unknown) => {
        settle();
        waiting.splice(waiting.indexOf(turn), 1);
        reject(reason);
      };
      const gone = () => refuse(signal?.reason);
      const timer = setTimeout(
        () =>
          refuse(fail('SERVICE_UNAVAILABLE', 'Too many large reads at a time; try again.', { service: 'database' })),
        LONGEST_WAIT,
      );
      signal?.addEventListener('abort', gone, { once: true });
      waiting.push(turn);
    });
    return leave;
  };
}
