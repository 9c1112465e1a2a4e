import { expect } from 'chai';
import { GuestFailure } from '../../../plugins/sandbox/library.ts';
import { behaviourOnInvoke, createFakeLauncher } from '../../sandbox/supervisor/fake-launcher.ts';
import { waitForCondition } from '../../sandbox/supervisor/supervisor-fixture.ts';
import { captureError } from '../../support/test-plugins.ts';
import {
  createTestInvocationRequest,
  getFailureCode,
  type SandboxLauncher,
  type SandboxLauncherOptions,
  withSandbox,
} from './sandbox-fixture.ts';

const refusing = (posture: Partial<SandboxLauncher['posture']>): SandboxLauncher => {
  const launcher = createFakeLauncher();
  return { ...launcher, posture: { ...launcher.posture, decision: 'refuse', ...posture } };
};

describe('sandbox: the runtime', () => {
  it('the runtime is not-required and starts no process until runtime() is called', async () => {
    let launched = 0;
    const launch = async () => {
      launched++;
      return createFakeLauncher();
    };
    await withSandbox(launch, {}, async ({ sandbox, open }) => {
      expect(sandbox.state()).to.deep.equal({ state: 'not-required', posture: null });
      expect(sandbox.maxArtifact()).to.equal(8 * 1024 * 1024);
      const guest = open('echo');
      expect([guest.state(), launched]).to.deep.equal(['idle', 0]);
      await guest.close();
      expect(launched).to.equal(0);
      const states = await Promise.all([sandbox.runtime(), sandbox.runtime()]);
      expect(states.map(({ state }) => state)).to.deep.equal(['available', 'available']);
      expect(sandbox.state().state).to.equal('available');
      expect(launched).to.equal(1);
    });
  });

  it('the launcher receives mode, memory and process count of the settings', async () => {
    let received: SandboxLauncherOptions | undefined;
    const launch = async (options: SandboxLauncherOptions) => {
      received = options;
      return createFakeLauncher();
    };
    const config = { EXTENSIONS_SANDBOX_MAX_MEMORY: '32mb', EXTENSIONS_SANDBOX_MAX_PROCESSES: '2' };
    await withSandbox(launch, config, async ({ sandbox }) => void (await sandbox.runtime()));
    expect(received).to.include({ mode: 'auto', memory: 32 * 1024 * 1024 });
    expect(received?.processes, 'waiting ones and those of hooks included').to.be.above(2);
  });

  it('the runtime is unavailable under an invalid setting and names it', async () => {
    let launched = 0;
    const launch = async () => {
      launched++;
      return createFakeLauncher();
    };
    await withSandbox(launch, { EXTENSIONS_SANDBOX_TIMEOUT: '1h' }, async ({ sandbox, open }) => {
      const state = await sandbox.runtime();
      expect(state).to.deep.include({ state: 'unavailable', posture: null });
      expect(state.reason).to.contain('EXTENSIONS_SANDBOX_TIMEOUT');
      expect(await getFailureCode(open('echo').invoke(createTestInvocationRequest()))).to.equal('internal');
      expect(await getFailureCode(sandbox.probe('echo'))).to.equal('internal');
      expect(sandbox.maxArtifact()).to.equal(8 * 1024 * 1024);
    });
    expect(launched).to.equal(0);
  });

  it('the runtime is unavailable where the posture refuses, and names the missing layers', async () => {
    const launch = async () => refusing({ mode: 'required', missing: ['seccomp', 'cpu-limit'] });
    await withSandbox(launch, { EXTENSIONS_SANDBOX_OS_HARDENING: 'required' }, async ({ sandbox, open }) => {
      const { state, posture, reason } = await sandbox.runtime();
      expect([state, posture?.decision]).to.deep.equal(['unavailable', 'refuse']);
      expect(reason).to.match(/seccomp\.$/);
      expect(await getFailureCode(open('echo').invoke(createTestInvocationRequest()))).to.equal('internal');
    });
  });

  it('runtime() tries again after a launcher failure', async () => {
    let times = 0;
    const launch = async () => {
      if (times++ === 0) throw new Error('no room in /tmp/somewhere');
      return createFakeLauncher();
    };
    await withSandbox(launch, {}, async ({ sandbox }) => {
      const first = await sandbox.runtime();
      expect(first.state).to.equal('unavailable');
      expect(first.reason).not.to.contain('/tmp');
      expect((await sandbox.runtime()).state).to.equal('available');
    });
  });

  it('stop() ends every process, and later invocations fail with internal', async () => {
    const launcher = createFakeLauncher({ never: behaviourOnInvoke(() => {}) });
    let late: Promise<string> | undefined;
    let again: (() => Promise<string>) | undefined;
    await withSandbox(
      async () => launcher,
      {},
      async ({ sandbox, open }) => {
        await sandbox.runtime();
        const guest = open('never');
        late = getFailureCode(guest.invoke(createTestInvocationRequest()));
        again = () => getFailureCode(guest.invoke(createTestInvocationRequest()));
        await waitForCondition(() => guest.state() === 'running');
      },
    );
    expect(await late).to.equal('crash');
    expect(await again?.()).to.equal('internal');
    expect(launcher.living()).to.equal(0);
  });
});

describe('sandbox: programs', () => {
  it('an invocation resolves with the JSON text and its value', () =>
    withSandbox(
      async () =>
        createFakeLauncher({
          none: behaviourOnInvoke((child, id) => child.send({ type: 'result', id, none: true }, 'null')),
          broken: behaviourOnInvoke((child, id) => child.send({ type: 'result', id }, '{"a":')),
          deep: behaviourOnInvoke((child, id) =>
            child.send({ type: 'result', id }, '['.repeat(90_000) + ']'.repeat(90_000)),
          ),
        }),
      {},
      async ({ open }) => {
        expect(await open('echo').invoke(createTestInvocationRequest({ a: 'é' }))).to.deep.equal({
          text: '{"a":"é"}',
          value: { a: 'é' },
        });
        expect(await open('none').invoke(createTestInvocationRequest())).to.deep.equal({
          text: undefined,
          value: undefined,
        });
        const error = await captureError(open('broken').invoke(createTestInvocationRequest()));
        expect(error).to.be.instanceOf(GuestFailure).with.property('code', 'invalid-result');
        expect(await getFailureCode(open('deep').invoke(createTestInvocationRequest()))).to.equal('invalid-result');
      },
    ));

  it('a parked program is reported with RUNTIME_CRASHED, and restart() starts it again', () => {
    let left = 5;
    return withSandbox(
      async () =>
        createFakeLauncher({
          dies: behaviourOnInvoke((child, id) => (left-- > 0 ? child.die() : child.send({ type: 'result', id }, '1'))),
        }),
      {},
      async ({ open, parked }) => {
        const guest = open('dies');
        while (guest.state() !== 'parked') {
          const code = await getFailureCode(guest.invoke(createTestInvocationRequest()));
          expect(['crash', 'busy']).to.include(code);
        }
        await waitForCondition(() => parked.length > 0);
        expect(parked).to.have.length(1);
        expect(parked[0]?.code).to.equal('RUNTIME_CRASHED');
        guest.restart();
        expect((await guest.invoke(createTestInvocationRequest())).value).to.equal(1);
      },
    );
  });

  it('probe() reads the contract of a script', () =>
    withSandbox(
      async () => createFakeLauncher({ bad: (child) => child.send({ type: 'refused', code: 'invalid-entry' }) }),
      {},
      async ({ sandbox }) => {
        await sandbox.runtime();
        expect(await sandbox.probe('echo')).to.deep.equal([
          { key: '', id: 'x', handler: true, filters: [], actions: [] },
        ]);
        const error = await captureError(sandbox.probe('bad'));
        expect(error).to.be.instanceOf(GuestFailure).with.property('code', 'invalid-entry');
      },
    ));
});
