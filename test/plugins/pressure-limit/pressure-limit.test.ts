import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { captureError, withBootedTestPlugins } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';

const NO_LIMITS = {
  PRESSURE_LIMITER_ENABLED: 'true',
  PRESSURE_LIMITER_SAMPLE_INTERVAL: '50',
  PRESSURE_LIMITER_MAX_EVENT_LOOP_UTILIZATION: '0',
  PRESSURE_LIMITER_MAX_EVENT_LOOP_DELAY: '0',
  LOG_LEVEL: 'warn',
};

async function withService(
  env: Readonly<Record<string, string>>,
  work: (service: InProcessService, ask: (path: string) => ReturnType<InProcessService['request']>) => Promise<void>,
): Promise<void> {
  const service = await startService({ env: { ...NO_LIMITS, ...env } });
  try {
    await work(service, (path) => service.request('GET', path));
  } finally {
    await service.stop();
  }
}

/** Keeps the event loop busy, a hundredth of a second at a time, until `end` is called. */
function keepBusy(): { end(): void } {
  let isBusy = true;
  const work = () => {
    for (const end = performance.now() + 10; performance.now() < end; );
    if (isBusy) setImmediate(work);
  };
  work();
  return {
    end() {
      isBusy = false;
    },
  };
}

const firstRefusal = (ask: (path: string) => ReturnType<InProcessService['request']>) =>
  until(async () => {
    const reply = await ask('/server/info');
    return reply.status === 503 && reply;
  });

describe('the limit of pressure', function () {
  this.timeout(120_000);

  it('a process that does nothing but compute answers 503, but ping and health, until that is over', () =>
    withService({ PRESSURE_LIMITER_MAX_EVENT_LOOP_UTILIZATION: '0.95' }, async (service, ask) => {
      // The start itself is work.
      await until(async () => (await ask('/server/info')).status === 200);
      const work = keepBusy();
      try {
        const refused = await firstRefusal(ask);
        const { code, reason } = refused.body.errors[0].extensions;
        expect([code, reason]).to.deep.equal(['SERVICE_UNAVAILABLE', 'under pressure']);
        expect(refused.headers.get('retry-after')).to.equal(null);
        expect((await ask('/server/ping')).body).to.equal('pong');
        expect((await ask('/server/health')).body).to.have.property('status');
        expect((await ask('/items/nothing')).status).to.equal(503);
      } finally {
        work.end();
      }
      await until(async () => (await ask('/server/info')).status === 200);
      const lines = service.log.map(({ msg }) => String(msg)).filter((line) => line.includes('the process is'));
      expect(lines[0]).to.equal('the process is overloaded (utilization of the event loop): requests are refused');
      expect(lines.at(-1)).to.equal('the process is not overloaded any more');
    }));

  it('a process whose timers are late answers 503', () =>
    withService({ PRESSURE_LIMITER_MAX_EVENT_LOOP_DELAY: '1' }, async (_service, ask) => {
      const work = keepBusy();
      try {
        await firstRefusal(ask);
      } finally {
        work.end();
      }
    }));

  for (const name of ['PRESSURE_LIMITER_MAX_MEMORY_RSS', 'PRESSURE_LIMITER_MAX_MEMORY_HEAP_USED'])
    it(`a process with more memory than ${name} answers 503 with Retry-After, and one with less does not`, async () => {
      await withService({ [name]: '1mb', PRESSURE_LIMITER_RETRY_AFTER: '7' }, async (_service, ask) => {
        expect((await firstRefusal(ask)).headers.get('retry-after')).to.equal('7');
        expect((await ask('/server/health')).body).to.have.property('status');
      });
      await withService({ [name]: '100gb' }, async (service, ask) => {
        for (let count = 0; count < 20; count++) expect((await ask('/server/info')).status).to.equal(200);
        expect(service.log.filter(({ owner }) => owner === '@tenon/pressure-limit')).to.deep.equal([]);
      });
    });
});

describe('settings of the limit of pressure', () => {
  const start = (environment: Readonly<Record<string, string>>) =>
    withBootedTestPlugins([], () => {}, { product: ['pressure-limit'], environment: { ...NO_LIMITS, ...environment } });

  it('values of another form, and limits that are all off, stop the start with a remedy', async () => {
    for (const environment of [
      {},
      { PRESSURE_LIMITER_MAX_MEMORY_RSS: 'much' },
      { PRESSURE_LIMITER_MAX_MEMORY_RSS: '1gb', PRESSURE_LIMITER_RETRY_AFTER: 'soon' },
    ] as const) {
      const failure = await captureError(start(environment as Record<string, string>));
      expect(failure).to.include({ name: 'BootFailure', plugin: '@tenon/pressure-limit', phase: 'config' });
      expect(failure.remedy).to.be.a('string');
    }
    await start({ PRESSURE_LIMITER_MAX_MEMORY_HEAP_USED: '2gb' });
  });
});
