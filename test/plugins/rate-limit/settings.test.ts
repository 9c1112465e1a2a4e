import { expect } from 'chai';
import { boot } from '#kernel/boot';
import { listCorePlugins } from '../../../plugins/core-plugins.ts';
import { captureError, silentSettings } from '../../support/test-plugins.ts';

const start = async (environment: Readonly<Record<string, string>>) =>
  (
    await boot(listCorePlugins(), { environment: { ...silentSettings, EXTENSIONS_PATH: '/dev/null', ...environment } })
  ).stop();

describe('settings of rate limits', function () {
  this.timeout(60_000);
  const on = { RATE_LIMITER_ENABLED: 'true' };
  const global = { ...on, RATE_LIMITER_GLOBAL_ENABLED: 'true' };
  const wrong: Readonly<Record<string, readonly [environment: Readonly<Record<string, string>>, reason: RegExp]>> = {
    'a global limit without one of addresses': [{ RATE_LIMITER_GLOBAL_ENABLED: 'true' }, /RATE_LIMITER_GLOBAL_ENABLED/],
    'a global limit that is as high as that of one address': [{ ...global, RATE_LIMITER_POINTS: '1000' }, /not higher/],
    'a global rate that is lower by its duration': [{ ...global, RATE_LIMITER_GLOBAL_DURATION: '20' }, /not higher/],
    'a store in Redis without Redis': [{ ...on, RATE_LIMITER_STORE: 'redis' }, /not configured/],
  };
  for (const [name, [environment, reason]] of Object.entries(wrong))
    it(`${name} stops the start with a remedy`, async () => {
      const failure = await captureError(start(environment));
      expect(failure).to.include({ name: 'BootFailure', plugin: '@tenon/rate-limit', phase: 'config' });
      expect(failure.message).to.match(reason);
      expect(failure.remedy).to.be.a('string');
    });

  it('an unknown store and no points stop the start', async () => {
    const failure = await captureError(start({ RATE_LIMITER_STORE: 'memcache', RATE_LIMITER_POINTS: '0' }));
    expect(failure.message).to.contain('RATE_LIMITER_STORE must be one of').and.contain('RATE_LIMITER_POINTS must be');
  });

  it('a higher rate in a longer window is a global limit', () =>
    start({ ...global, RATE_LIMITER_GLOBAL_POINTS: '6000', RATE_LIMITER_GLOBAL_DURATION: '60' }));
});
