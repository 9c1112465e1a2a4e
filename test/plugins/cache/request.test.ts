import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { normalizeQueryString } from '../../../plugins/cache/request/query-text.ts';
import { SingleFlight } from '../../../plugins/cache/request/single-flight.ts';
import { type CacheConfig, createCacheSettings } from '../../../plugins/cache/settings.ts';

describe('normalizeQueryString', () => {
  const CASES: readonly (readonly [text: string, normalized: string])[] = [
    ['limit=1&fields=a', 'fields=a&limit=1'],
    ['filter[b]=1&fields=x&filter[a]=2', 'fields=x&filter[b]=1&filter[a]=2'],
    ['filter%5Bb%5D=1&filter[a]=2', 'filter%5Bb%5D=1&filter[a]=2'],
    ['access_token=secret', ''],
    ['limit=1&access%5Ftoken=secret', 'limit=1'],
    ['b=1&%E0%A4%A=2&a=3', 'b=1&%E0%A4%A=2&a=3'],
    ['sort=b&sort=a', 'sort=b&sort=a'],
  ];
  for (const [text, normalized] of CASES)
    it(`makes "${normalized}" of "${text}"`, () => {
      expect(normalizeQueryString(text)).to.equal(normalized);
    });
});

describe('SingleFlight', () => {
  it('lets one read run for a key, and the others wait for it', async () => {
    const flights = new SingleFlight();
    const flight = flights.begin('a');
    expect(flights.begin('a')).to.equal(undefined);
    expect(flights.begin('b')).to.not.equal(undefined);
    const waiting = Promise.all([flights.wait('a'), flights.wait('a')]);
    flight?.end('stored');
    expect(await waiting).to.deep.equal(['stored', 'stored']);
    expect(flights.begin('a')).to.not.equal(undefined);
  });

  it('ends the wait after two seconds', async () => {
    const flights = new SingleFlight();
    flights.begin('a');
    const since = performance.now();
    expect(await Promise.race([flights.wait('a'), pause(20_000, 'too long')])).to.equal('nothing');
    expect(performance.now() - since).to.be.greaterThan(1900);
  }).timeout(30_000);
});

describe('createCacheSettings', () => {
  const defaults: CacheConfig = {
    CACHE_ENABLED: true,
    CACHE_STORE: 'memory',
    CACHE_NAMESPACE: 'system-cache',
    CACHE_TTL: 300_000,
    CACHE_MEMORY_MAX_SIZE: 64 * 1024 * 1024,
    CACHE_VALUE_MAX_SIZE: 'false',
    CACHE_AUTO_PURGE: false,
    CACHE_AUTO_PURGE_IGNORE_LIST: [],
    CACHE_CONTROL_S_MAXAGE: 0,
    CACHE_STATUS_HEADER: '',
    CACHE_SKIP_ALLOWED: false,
    CACHE_HEALTHCHECK_THRESHOLD: 150,
  };
  const settingsOf = (config: Partial<CacheConfig>) => createCacheSettings({ ...defaults, ...config }, false);

  it('takes a size, or a sixteenth of the memory for false', () => {
    expect(settingsOf({}).maxAnswerSize).to.equal(4 * 1024 * 1024);
    expect(settingsOf({ CACHE_VALUE_MAX_SIZE: '100kb' }).maxAnswerSize).to.equal(102_400);
  });

  it('refuses what makes no sense, with a remedy', () => {
    for (const wrong of [
      { CACHE_VALUE_MAX_SIZE: 'large' },
      { CACHE_VALUE_MAX_SIZE: '60mb' },
      { CACHE_STATUS_HEADER: 'x cache' },
      { CACHE_STORE: 'redis' as const },
      { CACHE_NAMESPACE: 'a b' },
    ]) {
      const error = (() => {
        try {
          settingsOf(wrong);
        } catch (caught) {
          return caught as { remedy?: string };
        }
      })();
      expect(error?.remedy, JSON.stringify(wrong)).to.be.a('string');
    }
  });
});
