import { expect } from 'chai';
import { GuestFailure } from '../../../plugins/sandbox/library.ts';
import type { Launcher, LauncherOptions } from '../../../sandbox/host/child.ts';
import type { Posture } from '../../../sandbox/host/posture/posture.ts';
import { doing, fakeLauncher } from '../../sandbox/supervisor/fake.ts';
import { until } from '../../sandbox/supervisor/ground.ts';
import { failureOf } from '../../support/plugin.ts';
import { codeOf, request, withSandbox } from './ground.ts';

const refusing = (posture: Partial<Posture>): Launcher => {
  const launcher = fakeLauncher();
  return { ...launcher, posture: { ...launcher.posture, decision: 'refuse', ...posture } };
};

describe('sandbox: the runtime', () => {
  it('is not required, and starts nothing, until somebody asks for it', async () => {
    let launched = 0;
    const launch = async () => {
      launched++;
      return fakeLauncher();
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

  it('tells the launcher what the settings say', async () => {
    let told: LauncherOptions | undefined;
    const launch = async (options: LauncherOptions) => {
      told = options;
      return fakeLauncher();
    };
    const config = { EXTENSIONS_SANDBOX_MAX_MEMORY: '32mb', EXTENSIONS_SANDBOX_MAX_PROCESSES: '2' };
    await withSandbox(launch, config, async ({ sandbox }) => void (await sandbox.runtime()));
    expect(told).to.include({ mode: 'auto', memory: 32 * 1024 * 1024 });
    expect(told?.processes, 'waiting ones and those of hooks included').to.be.above(2);
  });

  it('is unavailable under a wrong setting, and says which', async () => {
    let launched = 0;
    const launch = async () => {
      launched++;
      return fakeLauncher();
    };
    await withSandbox(launch, { EXTENSIONS_SANDBOX_TIMEOUT: '1h' }, async ({ sandbox, open }) => {
      const state = await sandbox.runtime();
      expect(state).to.deep.include({ state: 'unavailable', posture: null });
      expect(state.reason).to.contain('EXTENSIONS_SANDBOX_TIMEOUT');
      expect(await codeOf(open('echo').invoke(request()))).to.equal('internal');
      expect(await codeOf(sandbox.probe('echo'))).to.equal('internal');
      expect(sandbox.maxArtifact()).to.equal(8 * 1024 * 1024);
    });
    expect(launched).to.equal(0);
  });

  it('is unavailable where the posture refuses, shows it, and names what is missing', async () => {
    const launch = async () => refusing({ mode: 'required', missing: ['seccomp', 'cpu-limit'] });
    await withSandbox(launch, { EXTENSIONS_SANDBOX_OS_HARDENING: 'required' }, async ({ sandbox, open }) => {
      const { state, posture, reason } = await sandbox.runtime();
      expect([state, posture?.decision]).to.deep.equal(['unavailable', 'refuse']);
      expect(reason).to.match(/seccomp\.$/);
      expect(await codeOf(open('echo').invoke(request()))).to.equal('internal');
    });
  });

  it('tries again where the launcher failed', async () => {
    let times = 0;
    const launch = async () => {
      if (times++ === 0) throw new Error('no room in /tmp/somewhere');
      return fakeLauncher();
    };
    await withSandbox(launch, {}, async ({ sandbox }) => {
      const first = await sandbox.runtime();
      expect(first.state).to.equal('unavailable');
      expect(first.reason).not.to.contain('/tmp');
      expect((await sandbox.runtime()).state).to.equal('available');
    });
  });

  it('leaves nothing behind when it stops, and takes nothing more', async () => {
    const launcher = fakeLauncher({ never: doing(() => {}) });
    let late: Promise<string> | undefined;
    let again: (() => Promise<string>) | undefined;
    await withSandbox(
      async () => launcher,
      {},
      async ({ sandbox, open }) => {
        await sandbox.runtime();
        const guest = open('never');
        late = codeOf(guest.invoke(request()));
        again = () => codeOf(guest.invoke(request()));
        await until(() => guest.state() === 'running');
      },
    );
    expect(await late).to.equal('crash');
    expect(await again?.()).to.equal('internal');
    expect(launcher.living()).to.equal(0);
  });
});

describe('sandbox: programs', () => {
  it('answer the text and the value of their JSON', () =>
    withSandbox(
      async () =>
        fakeLauncher({
          none: doing((child, id) => child.say({ type: 'result', id, none: true }, 'null')),
          broken: doing((child, id) => child.say({ type: 'result', id }, '{"a":')),
          deep: doing((child, id) => child.say({ type: 'result', id }, '['.repeat(90_000) + ']'.repeat(90_000))),
        }),
      {},
      async ({ open }) => {
        expect(await open('echo').invoke(request({ a: 'é' }))).to.deep.equal({ text: '{"a":"é"}', value: { a: 'é' } });
        expect(await open('none').invoke(request())).to.deep.equal({ text: undefined, value: undefined });
        const error = await failureOf(open('broken').invoke(request()));
        expect(error).to.be.instanceOf(GuestFailure).with.property('code', 'invalid-result');
        expect(await codeOf(open('deep').invoke(request()))).to.equal('invalid-result');
      },
    ));

  it('are told of with a code when they are parked, and start again when told to', () => {
    let left = 5;
    return withSandbox(
      async () =>
        fakeLauncher({
          dies: doing((child, id) => (left-- > 0 ? child.die() : child.say({ type: 'result', id }, '1'))),
        }),
      {},
      async ({ open, parked }) => {
        const guest = open('dies');
        while (guest.state() !== 'parked') {
          const code = await codeOf(guest.invoke(request()));
          expect(['crash', 'busy']).to.include(code);
        }
        await until(() => parked.length > 0);
        expect(parked).to.have.length(1);
        expect(parked[0]?.code).to.equal('RUNTIME_CRASHED');
        guest.restart();
        expect((await guest.invoke(request())).value).to.equal(1);
      },
    );
  });

  it('are probed for their contract', () =>
    withSandbox(
      async () => fakeLauncher({ bad: (child) => child.say({ type: 'refused', code: 'invalid-entry' }) }),
      {},
      async ({ sandbox }) => {
        await sandbox.runtime();
        expect(await sandbox.probe('echo')).to.deep.equal([
          { key: '', id: 'x', handler: true, filters: [], actions: [] },
        ]);
        const error = await failureOf(sandbox.probe('bad'));
        expect(error).to.be.instanceOf(GuestFailure).with.property('code', 'invalid-entry');
      },
    ));
});
