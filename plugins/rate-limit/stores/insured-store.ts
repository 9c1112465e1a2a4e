import type { PointsStore } from './points-store.ts';
import type { StoreOutage } from './store-outage.ts';

/** Milliseconds that a request waits for the store. */
export const STORE_TIMEOUT = 1000;

interface InsuredStoreDeps {
  readonly store: PointsStore;
  /** Counts in this process while the store is away. */
  readonly memory: PointsStore;
  readonly outage: StoreOutage;
}

/** A store that never fails: while `store` is away, points are counted in this process. */
export const createInsuredStore = ({ store, memory, outage }: InsuredStoreDeps): PointsStore => ({
  async add(key, points) {
    if (!outage.mayTry()) return memory.add(key, points);
    try {
      const window = await withTimeout(store.add(key, points));
      outage.recovered();
      return window;
    } catch (error) {
      outage.failed(error);
      return memory.add(key, points);
    }
  },
});

/**
 * Rejects where the store does not answer in time. After a pause of the process the timer is due before the answers that have
 * arrived meanwhile are read, so it waits for those.
 */
export async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const expire = () => reject(new Error(`no answer within ${STORE_TIMEOUT} ms`));
  const timer = setTimeout(() => setImmediate(expire), STORE_TIMEOUT);
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
