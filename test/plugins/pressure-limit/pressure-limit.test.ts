import { expect } from 'chai';
import type { Log } from '#kernel';
import {
  type PressureMonitor,
  type PressureSample,
  startPressureMonitor,
} from '../../../plugins/pressure-limit/pressure-monitor.ts';
import { startService } from '../../support/service.ts';
import { captureError, withBootedTestPlugins } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';

const NO_LIMITS = { utilization: Infinity, delay: Infinity, rss: Infinity, heapUsed: Infinity };
const IDLE: PressureSample = { utilization: 0.1, delay: 1, rss: 100, heapUsed: 50 };

describe('the monitor of the load', function () {
  this.timeout(60_000);

  for (const [name, limit, exceeded, text] of [
    ['utilization', 0.99, 0.995, 'utilization of the event loop'],
    ['delay', 500, 501, 'delay of the event loop'],
    ['rss', 1000, 1001, 'resident memory'],
    ['heapUsed', 1000, 1001, 'heap'],
  ] as const)
    it(`sees and logs that ${name} is over its limit, and that it is not any more`, async () => {
      let sample: PressureSample = { ...IDLE, [name]: limit };
      let samples = 0;
      const lines: string[] = [];
      const log = { warn: (_about: object, line: string) => lines.push(line) } as unknown as Log;
      let isStopped = false;
      const probe = {
        sample() {
          samples++;
          return sample;
        },
        stop() {
          isStopped = true;
        },
      };
      const monitor: PressureMonitor = startPressureMonitor({
        limits: { ...NO_LIMITS, [name]: limit },
        interval: 10,
        probe,
        log,
      });
      try {
        await until(() => samples > 2);
        expect([monitor.pressure, lines]).to.deep.equal([undefined, []]);
        sample = { ...IDLE, [name]: exceeded };
        await until(() => monitor.pressure === text);
        const seen = samples;
        await until(() => samples > seen + 2);
        expect(lines).to.deep.equal([`the process is overloaded (${text}): requests are refused`]);
        sample = IDLE;
        await until(() => monitor.pressure === undefined);
        expect(lines.slice(1)).to.deep.equal(['the process is not overloaded any more']);
      } finally {
        monitor.stop();
      }
      expect(isStopped).to.equal(true);
    });
});

describe('a process that does nothing but compute', function () {
  this.timeout(180_000);

  it('answers requests 503 SERVICE_UNAVAILABLE, but ping and health, until it is over', async () => {
    let isComputing = false;
    const work = () => {
      if (!isComputing) return;
      for (const end = performance.now() + 10; performance.now() < end; );
      setImmediate(work);
    };
    const service = await startService({
      env: {
        PRESSURE_LIMITER_ENABLED: 'true',
        PRESSURE_LIMITER_SAMPLE_INTERVAL: '100',
        PRESSURE_LIMITER_MAX_EVENT_LOOP_UTILIZATION: '0.95',
        PRESSURE_LIMITER_MAX_EVENT_LOOP_DELAY: '0',
        PRESSURE_LIMITER_RETRY_AFTER: '7',
        LOG_LEVEL: 'warn',
      },
    });
    const ask = (path: string) => service.request('GET', path);
    try {
      isComputing = true;
      work();
      const refused = await until(async () => {
        const reply = await ask('/server/info');
        return reply.status === 503 && reply;
      });
      expect(refused.body.errors[0].extensions).to.deep.include({
        code: 'SERVICE_UNAVAILABLE',
        reason: 'under pressure',
      });
      expect(refused.headers.get('retry-after')).to.equal('7');
      expect((await ask('/server/ping')).status).to.equal(200);
      expect((await ask('/server/health')).body).to.have.property('status');
      expect((await ask('/items/nothing')).status).to.equal(503);
      isComputing = false;
      await until(async () => (await ask('/server/info')).status === 200);
      const lines = service.log.map(({ msg }) => String(msg)).filter((line) => line.includes('overloaded'));
      expect(lines[0]).to.match(/^the process is overloaded \(.+\): requests are refused$/);
      expect(lines.at(-1)).to.equal('the process is not overloaded any more');
    } finally {
      isComputing = false;
      await service.stop();
    }
  });
});

describe('settings of the pressure limit', () => {
  const on = { PRESSURE_LIMITER_ENABLED: 'true' };
  const off = {
    PRESSURE_LIMITER_MAX_EVENT_LOOP_UTILIZATION: '0',
    PRESSURE_LIMITER_MAX_EVENT_LOOP_DELAY: '0',
  };
  const start = (environment: Readonly<Record<string, string>>) =>
    withBootedTestPlugins([], () => {}, { product: ['pressure-limit'], environment });

  it('a size that is none, and limits that are all off, stop the start with a remedy', async () => {
    for (const environment of [
      { ...on, PRESSURE_LIMITER_MAX_MEMORY_RSS: 'much' },
      { ...on, ...off },
    ]) {
      const failure = await captureError(start(environment));
      expect(failure).to.include({ name: 'BootFailure', plugin: '@tenon/pressure-limit', phase: 'config' });
      expect(failure.remedy).to.be.a('string');
    }
    await start({ ...on, ...off, PRESSURE_LIMITER_MAX_MEMORY_HEAP_USED: '2gb' });
  });
});
