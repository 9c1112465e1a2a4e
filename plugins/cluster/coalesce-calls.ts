/**
 * Each call gets the result of a run that begins after the call. Runs do not overlap: all calls during a run share the next one.
 */
export function coalesceConcurrentCalls<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let waiting: Promise<T> | undefined;

  function begin(): Promise<T> {
    waiting = undefined;
    const current = run();
    running = current;
    const end = () => {
      if (running === current) running = undefined;
    };
    current.then(end, end);
    return current;
  }

  return () => {
    if (waiting) return waiting;
    if (!running) return begin();
    waiting = running.then(begin, begin);
    return waiting;
  };
}
