import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import type { Environment } from '#kernel/boot';
import { captureError, withBootedTestPlugins } from '../support/test-plugins.ts';

type Keys = Record<string, Record<string, unknown>>;

/** The value of `host.config` in a plugin that declares these settings. */
async function configOf(config: Keys, environment: Environment): Promise<Record<string, unknown>> {
  let seen: Record<string, unknown> = {};
  await withBootedTestPlugins(
    [{ name: 'p', manifest: { config }, register: (host) => void (seen = host.config as never) }],
    () => {},
    { environment },
  );
  return seen;
}

const configFailure = async (config: Keys, environment: Environment) =>
  (await captureError<BootFailure>(configOf(config, environment))).message;

describe('settings of the kernel', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-config-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };

  const good: readonly [type: string, text: string, value: unknown][] = [
    ['string', ' padded ', 'padded'],
    ['integer', '-12', -12],
    ['number', '1.5', 1.5],
    ['number', '1e3', 1000],
    ['boolean', 'TRUE', true],
    ['boolean', '0', false],
    ['array', 'a, b ,c', ['a', 'b', 'c']],
    ['duration', '250', 250],
    ['duration', '15m', 900_000],
    ['duration', '1.5h', 5_400_000],
    ['duration', '7d', 604_800_000],
    ['size', '100', 100],
    ['size', '1mb', 1_048_576],
    ['size', '2 KB', 2048],
    ['json', '{"a":[1,null]}', { a: [1, null] }],
  ];
  for (const [type, text, value] of good) {
    it(`a setting of the type ${type} accepts "${text}"`, async () => {
      expect((await configOf({ P_KEY: { type } }, { P_KEY: text })).P_KEY).to.deep.equal(value);
    });
  }

  const bad: readonly [key: Record<string, unknown>, text: string, problem: string][] = [
    [{ type: 'integer' }, '1.5', 'must be a whole number'],
    [{ type: 'integer' }, '0x10', 'must be a whole number'],
    [{ type: 'integer' }, '12345678901234567', 'must be a whole number'],
    [{ type: 'number' }, 'many', 'must be a number'],
    [{ type: 'number' }, 'Infinity', 'must be a number'],
    [{ type: 'boolean' }, 'yes', 'must be true or false'],
    [{ type: 'duration' }, '5 fortnights', 'must be a duration such as 500, 15m or 7d'],
    [{ type: 'duration' }, '-5m', 'must be a duration such as 500, 15m or 7d'],
    [{ type: 'duration' }, '5 constructor', 'must be a duration such as 500, 15m or 7d'],
    [{ type: 'size' }, 'big', 'must be a size such as 500, 10kb or 1mb'],
    [{ type: 'json' }, '{a:1}', 'must be JSON'],
    [{ type: 'string', enum: ['red', 'blue'] }, 'green', 'must be one of red, blue'],
    [{ type: 'integer', minimum: 1 }, '0', 'must be at least 1'],
    [{ type: 'integer', maximum: 9 }, '10', 'must be at most 9'],
  ];
  for (const [key, text, expected] of bad) {
    it(`a setting of the type ${key.type} rejects "${text}"`, async () => {
      expect(await configFailure({ P_KEY: key }, { P_KEY: text })).to.equal(`P_KEY ${expected}`);
    });
  }

  it('boot reports all invalid settings together', async () => {
    const message = await configFailure(
      { P_ONE: { type: 'integer' }, P_TWO: { type: 'boolean' }, P_FINE: { type: 'string' } },
      { P_ONE: 'x', P_TWO: 'y', P_FINE: 'z', PORT: '70000' },
    );
    expect(message.split('\n').sort()).to.deep.equal([
      'PORT must be at most 65535',
      'P_ONE must be a whole number',
      'P_TWO must be true or false',
    ]);
  });

  it('a setting that is unset or empty has its default', async () => {
    const keys = { P_ONE: { type: 'integer', default: 3 }, P_TWO: { type: 'string' } };
    expect({ ...(await configOf(keys, { P_ONE: '' })) }).to.deep.equal({ P_ONE: 3, P_TWO: undefined });
  });

  it('a pattern such as NAME_* collects all matching settings as texts', async () => {
    const environment = { P_PART_A: ' 1 ', P_PART_FILE: '/no/such/file', P_PART_EMPTY: '', P_OTHER: 'x' };
    const seen = await configOf({ 'P_PART_*': { type: 'string' } }, environment);
    expect(seen['P_PART_*']).to.deep.equal({ P_PART_A: ' 1 ', P_PART_FILE: '/no/such/file' });
    expect(Object.isFrozen(seen['P_PART_*'])).to.equal(true);
    expect((await configOf({ 'P_PART_*': { type: 'string' } }, {}))['P_PART_*']).to.deep.equal({});
  });

  it('<KEY>_FILE names a file whose text is the value, without the trailing newline', async () => {
    const path = await file('secret', 'two\nlines\n');
    expect((await configOf({ P_KEY: { type: 'string' } }, { P_KEY_FILE: path, P_KEY: 'not this' })).P_KEY).to.equal(
      'two\nlines',
    );
  });

  it('boot reports an unreadable <KEY>_FILE without printing any value', async () => {
    const message = await configFailure({ P_KEY: { type: 'string' } }, { P_KEY_FILE: join(folder, 'nothing') });
    expect(message).to.equal('P_KEY cannot be read from the file that P_KEY_FILE names (ENOENT)');
    const wrong = await configFailure({ P_KEY: { type: 'integer', secret: true } }, { P_KEY: 'hunter2' });
    expect(wrong).not.to.contain('hunter2');
  });

  it('the file at CONFIG_PATH (env lines or JSON) overrides the environment', async () => {
    const keys = { P_KEY: { type: 'string' }, P_LIST: { type: 'json' } };
    const lines = await file('settings.env', 'P_KEY="from file"\n# a comment\n');
    expect((await configOf(keys, { CONFIG_PATH: lines, P_KEY: 'environment' })).P_KEY).to.equal('from file');
    const json = await file('settings.json', '{"P_KEY":"from json","P_LIST":[1]}');
    expect({ ...(await configOf(keys, { CONFIG_PATH: json, P_KEY: 'environment' })) }).to.deep.equal({
      P_KEY: 'from json',
      P_LIST: [1],
    });
  });

  it('boot rejects a CONFIG_PATH without a file, and a file with invalid JSON', async () => {
    expect(await configFailure({}, { CONFIG_PATH: join(folder, 'nothing') })).to.equal(
      'there is no file at CONFIG_PATH',
    );
    const failure = await captureError<BootFailure>(configOf({}, { CONFIG_PATH: await file('broken.json', '{"a":') }));
    expect([failure.name, failure.phase]).to.deep.equal(['BootFailure', 'config']);
  });

  it('host.config is frozen', async () => {
    const config = await configOf({ P_KEY: { type: 'string', default: 'x' } }, {});
    expect(() => Object.assign(config, { P_KEY: 'y' })).to.throw(TypeError);
    expect(() => Object.assign(config, { OTHER: 'y' })).to.throw(TypeError);
    expect(config.P_KEY).to.equal('x');
  });

  it('host.config denies settings of other plugins', async () => {
    let error: Record<string, unknown> = {};
    await withBootedTestPlugins(
      [
        { name: 'owner', manifest: { config: { O_SECRET: { type: 'string', secret: true } } } },
        {
          name: 'nosy',
          manifest: { config: { N_KEY: { type: 'string' } } },
          register(host) {
            expect(Object.keys(host.config)).to.deep.equal(['N_KEY']);
            try {
              host.config.O_SECRET;
            } catch (caught) {
              error = caught as never;
            }
          },
        },
      ],
      ({ kernel }) => {
        expect(error).to.include({ code: 'CAPABILITY_DENIED' });
        expect(error.detail).to.contain('nosy may not read the setting O_SECRET');
        expect(kernel.ledger.entries()).to.have.length(1);
      },
      { environment: { O_SECRET: 'x' } },
    );
  });
});
