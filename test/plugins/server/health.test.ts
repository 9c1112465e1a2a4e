import { expect } from 'chai';
import { mintPublicCaller } from '#kernel/boot';
import type { HealthCheck } from '../../../plugins/server/contract.ts';
import { createHealthCheckRunner, describeHealth } from '../../../plugins/server/health.ts';

const check = (name: string, more: Partial<HealthCheck>): HealthCheck => ({
  name,
  componentType: 'part',
  check: async () => ({ value: 1 }),
  ...more,
});

describe('health of the service', () => {
  it('health is the worst status of its checks', async () => {
    const measure = createHealthCheckRunner(50);
    const { status, checks } = await measure([
      check('fine', {}),
      check('slow', { threshold: 10, check: async () => ({ value: 11 }) }),
      check('counted', { check: async () => ({ value: 3, unit: 'things' }) }),
      check('broken', { check: () => Promise.reject(new Error('no way')) }),
      check('stuck', { check: () => new Promise(() => {}) }),
    ]);
    expect(status).to.equal('error');
    expect(checks.fine?.[0]).to.include({ componentType: 'part', status: 'ok', observedValue: 1, observedUnit: 'ms' });
    expect(checks.slow?.[0]).to.include({ status: 'warn', threshold: 10 });
    expect(checks.counted?.[0]).to.include({ observedUnit: 'things' });
    expect(checks.broken?.[0]).to.include({ status: 'error', output: 'no way' });
    expect(checks.stuck?.[0]).to.include({ status: 'error', output: 'no answer within 50 ms' });
  });

  it('health is "error" while the process stops, whatever the checks report', async () => {
    let isStopping = false;
    const deps = { measure: createHealthCheckRunner(), checks: () => [], isStopping: () => isStopping };
    expect(await describeHealth(mintPublicCaller(), deps)).to.deep.equal({ status: 'ok' });
    isStopping = true;
    expect(await describeHealth(mintPublicCaller(), deps)).to.deep.equal({ status: 'error' });
  });

  it('health is "ok" without checks', async () => {
    expect(await createHealthCheckRunner()([])).to.deep.equal({ status: 'ok', checks: {} });
  });

  it('concurrent requests share one run of the checks, and later requests start a new one', async () => {
    let count = 0;
    const measure = createHealthCheckRunner(50);
    const counted = [check('one', { check: async () => ({ value: ++count }) })];
    await Promise.all(Array.from({ length: 100 }, () => measure(counted)));
    expect(count).to.equal(1);
    await measure(counted);
    expect(count).to.equal(2);
  });
});
