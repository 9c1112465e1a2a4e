import { LoadFailure, type ReasonCode } from '../extension-types.ts';

/**
 * Rejects with a LoadFailure if `work` takes longer than `limit` milliseconds. A result after that is passed to
 * `onLate`.
 */
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
