import type { AnnouncedCache, AnnouncedCacheOptions, CacheCandidate } from './contract.ts';

/** See `AnnouncedCache`. */
export function createAnnouncedCache<T>({
  bus,
  channel,
  max,
  read,
  onForget = () => {},
}: AnnouncedCacheOptions<T>): AnnouncedCache<T> {
  let known = new Map<string, Promise<T>>();
  // Reads in progress, by key. A value is cached only when its read is still in this map as it ends: an announcement or a newer
  // read removes it.
  let running = new Map<string, Promise<CacheCandidate<T>>>();
  /** False while the connection is lost: then no value is kept or shared. */
  let listens = true;

  function keep(key: string, value: Promise<T>): void {
    const [oldest] = known.size >= max ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    known.set(key, value);
  }

  async function load(key: string): Promise<T> {
    const reading = read(key);
    if (listens) running.set(key, reading);
    try {
      const { value, cacheable } = await reading;
      if (cacheable && running.get(key) === reading) keep(key, Promise.resolve(value));
      return value;
    } finally {
      if (running.get(key) === reading) running.delete(key);
    }
  }

  /** Joins a running read; reads again where that fails or its value is not cacheable. */
  async function join(key: string, reading: Promise<CacheCandidate<T>>): Promise<T> {
    const shared = await reading.catch(() => undefined);
    return shared?.cacheable ? shared.value : load(key);
  }

  function forget(key?: string): void {
    if (key === undefined) {
      known = new Map();
      running = new Map();
    } else {
      known.delete(key);
      running.delete(key);
    }
    onForget();
  }
  bus.subscribe(channel, () => forget());
  bus.onLost(() => {
    listens = false;
    forget();
  });
  bus.onReconnect(() => {
    listens = true;
    forget();
  });

  return {
    get(key) {
      const kept = known.get(key);
      if (kept) return kept;
      const reading = running.get(key);
      return reading ? join(key, reading) : load(key);
    },
    forget,
  };
}
