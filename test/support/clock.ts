/** Runs work while the clocks of this process are ahead: for what is renewed after minutes, without waiting for them. */
export async function withClockAhead<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  const { now } = Date;
  const { performance } = globalThis;
  const monotonic = performance.now;
  Date.now = () => now() + milliseconds;
  performance.now = () => monotonic.call(performance) + milliseconds;
  try {
    return await work();
  } finally {
    Date.now = now;
    performance.now = monotonic;
  }
}
