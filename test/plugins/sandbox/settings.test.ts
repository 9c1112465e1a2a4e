import { expect } from 'chai';
import { parseSandboxSettings, type SandboxConfig, SandboxSettingError } from '../../../plugins/sandbox/settings.ts';

const MB = 1024 * 1024;
const plain: SandboxConfig = {
  EXTENSIONS_SANDBOX_TIMEOUT: '10s',
  EXTENSIONS_SANDBOX_MAX_MEMORY: '64mb',
  EXTENSIONS_SANDBOX_MAX_PROCESSES: undefined,
  EXTENSIONS_SANDBOX_MAX_RESULT: '1mb',
  EXTENSIONS_SANDBOX_MAX_HOST_API_CALL: '256kb',
  EXTENSIONS_SANDBOX_MAX_ARTIFACT: '8mb',
  EXTENSIONS_SANDBOX_OS_HARDENING: 'auto',
};
const GB = 1024 * MB;

describe('sandbox: settings', () => {
  it('defaults are those of the conventions', () => {
    expect(parseSandboxSettings(plain, 16 * GB)).to.deep.equal({
      limits: { wall: 10_000, cpu: 2000, memory: 64 * MB, result: MB, hostCall: 256 * 1024 },
      endpoints: { slots: 4, processes: 32, memory: 6 * GB },
      hooks: { slots: 2, processes: 16, memory: 2 * GB },
      artifact: 8 * MB,
      mode: 'auto',
    });
  });

  it('values may be plain numbers or have units', () => {
    const { limits } = parseSandboxSettings(
      { ...plain, EXTENSIONS_SANDBOX_TIMEOUT: '1500', EXTENSIONS_SANDBOX_MAX_MEMORY: String(32 * MB) },
      16 * GB,
    );
    expect(limits).to.include({ wall: 1500, cpu: 1200, memory: 32 * MB });
  });

  it('half of the memory is kept for the service, and at least one process executes', () => {
    const processes = (memory: number, set?: string) =>
      parseSandboxSettings({ ...plain, EXTENSIONS_SANDBOX_MAX_PROCESSES: set }, memory).endpoints.slots;
    expect([processes(256 * MB), processes(GB), processes(2 * GB)]).to.deep.equal([1, 3, 4]);
    expect([processes(64 * GB, '32'), processes(256 * MB, '1')]).to.deep.equal([32, 1]);
    expect(() => processes(GB, '4'))
      .to.throw(SandboxSettingError)
      .with.property('message')
      .that.contains('EXTENSIONS_SANDBOX_MAX_PROCESSES');
  });

  it('more processes live than execute, as many as memory holds while they wait', () => {
    const shares = (memory: number, set?: string) => {
      const { endpoints, hooks } = parseSandboxSettings({ ...plain, EXTENSIONS_SANDBOX_MAX_PROCESSES: set }, memory);
      return [endpoints.processes, hooks.slots, hooks.processes];
    };
    expect(shares(64 * GB, '1')).to.deep.equal([8, 1, 4]);
    expect(shares(64 * GB, '32')).to.deep.equal([64, 16, 32]);
    expect(shares(2 * GB)).to.deep.equal([12, 2, 4]);
    expect(shares(256 * MB)).to.deep.equal([1, 1, 1]);
  });

  const wrong: readonly [keyof SandboxConfig, readonly string[]][] = [
    ['EXTENSIONS_SANDBOX_TIMEOUT', ['999', '301s', 'soon', '-1', '', '1e4']],
    ['EXTENSIONS_SANDBOX_MAX_MEMORY', ['15mb', '513mb', '64 apples']],
    ['EXTENSIONS_SANDBOX_MAX_PROCESSES', ['0', '33', '2.5', 'many']],
    ['EXTENSIONS_SANDBOX_MAX_RESULT', ['1023', '17mb']],
    ['EXTENSIONS_SANDBOX_MAX_HOST_API_CALL', ['1', '5mb']],
    ['EXTENSIONS_SANDBOX_MAX_ARTIFACT', ['1b', '33mb']],
    ['EXTENSIONS_SANDBOX_OS_HARDENING', ['off', 'REQUIRED', '']],
  ];
  for (const [name, values] of wrong) {
    it(`an invalid ${name} is refused by its name, without its value`, () => {
      for (const value of values) {
        let message = '';
        try {
          parseSandboxSettings({ ...plain, [name]: value }, 64 * GB);
        } catch (error) {
          expect(error).to.be.instanceOf(SandboxSettingError);
          message = (error as Error).message;
        }
        expect(message, value).to.contain(name);
      }
    });
  }
});
