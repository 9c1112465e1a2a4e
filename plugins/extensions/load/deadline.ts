import { LoadFailure, type ReasonCode } from '../model.ts';

/** Fails with a LoadFailure when the work takes longer than `limit` ms; what it answers later is handed to `late`. */
export async function withDeadline<T>(
  limit: number,
  code: ReasonCode,
  work: () => Promise<T>,
  onLate: (value: T) => void = () => {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const running = work();
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      isOver = true;
      reject(new LoadFailure(code, `it did not come to an end within ${limit / 1000} s`));
    }, limit);
  });
  running.then(
    (value) => {
      if (isOver) onLate(value);
    },
    () => {},
  );
  try {
    return await Promise.race([running, expired]);
  } finally {
    clearTimeout(timer);
  }
}
