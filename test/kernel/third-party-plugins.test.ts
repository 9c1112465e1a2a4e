import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type BootFailure, facet, service } from '#kernel';
import type { Kernel } from '#kernel/boot';
import { findThirdPartyPluginFolders } from '../../plugins/extensions/third-party/folders.ts';
import { createSender } from '../support/send.ts';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../support/test-plugins.ts';

const greeter: TestPlugin = {
  name: 'greeter',
  thirdParty: true,
  manifest: { contributes: { 'http.middleware': { phases: ['route'] } } },
  register: (host) =>
    host.contribute(facet('http.middleware'), {
      name: 'greet',
      phase: 'route',
      handle: (ctx: { body: unknown }) => void (ctx.body = 'hello'),
    }),
};

/** Names of the loaded plugins, except the test's own plugin that loads third-party plugins. */
const namesOf = (kernel: Kernel): readonly string[] =>
  kernel.plugins.map(({ name }) => name).filter((name) => name !== 'third-party-loader');

/** Boots core and third-party plugins, and returns the names of loaded plugins and the logged errors. */
async function bootPlugins(...plugins: TestPlugin[]) {
  return withBootedTestPlugins(
    plugins,
    async ({ kernel, log }) => {
      await kernel.migrate();
      await kernel.start();
      return {
        names: namesOf(kernel),
        errors: log.filter((line) => line.level === 50).map((line) => `${line.owner}, ${line.phase}: ${line.msg}`),
      };
    },
    { environment: { LOG_LEVEL: 'info' } },
  );
}

describe('third-party plugins', () => {
  it('a valid third-party plugin is loaded and serves requests', async () => {
    await withBootedTestPlugins([greeter], async ({ kernel }) => {
      await kernel.migrate();
      await kernel.start();
      expect(namesOf(kernel)).to.deep.equal(['greeter']);
      const request = createSender(`http://127.0.0.1:${(await kernel.listen()).port}`);
      expect((await request('GET', '/anything')).body).to.equal('hello');
    });
  });

  it('folders whose package.json is a pipe, a device or a folder are skipped without blocking', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-odd-'));
    try {
      for (const name of ['pipe', 'device', 'folder']) await mkdir(join(folder, name));
      execFileSync('mkfifo', [join(folder, 'pipe/package.json')]);
      await symlink('/dev/zero', join(folder, 'device/package.json'));
      await mkdir(join(folder, 'folder/package.json'));
      expect(await findThirdPartyPluginFolders(folder)).to.deep.equal([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('a missing folder of third-party plugins is treated as empty', async () => {
    expect(await findThirdPartyPluginFolders('/no/such/folder')).to.deep.equal([]);
  });

  it('packages with names of extensions are rejected as plugins', async () => {
    for (const name of ['service-extension-orders', '@acme/service-extension-orders', '@service/extension-orders']) {
      const { names, errors } = await bootPlugins({ name, thirdParty: true, register: () => expect.fail('it ran') });
      expect(names).to.deep.equal([]);
      expect(errors[0]).to.match(/discover: .*its name is that of an extension/s);
    }
  });

  const broken: readonly [what: string, plugin: Omit<TestPlugin, 'name'>, error: RegExp][] = [
    ['a manifest with an unknown member', { manifest: { surprise: 1 } }, /validate: .*surprise/s],
    ['another host version', { manifest: { host: '^9.0.0' } }, /validate: it was written for host \^9.0.0/],
    ['an unknown capability', { manifest: { capabilities: { flight: true } } }, /validate: .*flight is not a known/s],
    [
      'a service in uses that no plugin provides',
      { manifest: { uses: { moon: '^1.0.0' } } },
      /order: it uses moon, which no plugin provides/,
    ],
    ['a syntax error', { code: 'export default {' }, /register: /],
    ['a register that throws', { register: () => JSON.parse('no') }, /register: /],
    ['a use of an undeclared capability', { register: (host) => host.log }, /register: broken may not use host.log/],
    ['an asynchronous register', { register: async () => {} }, /register: register must be synchronous/],
    [
      'a start that fails',
      { register: (host) => host.onStart(() => Promise.reject(new Error('flat'))) },
      /start: flat/,
    ],
    [
      'a migration that fails',
      { register: (host) => host.onMigrate(() => Promise.reject(new Error('flat'))) },
      /migrate: flat/,
    ],
  ];
  for (const [what, plugin, error] of broken) {
    it(`a third-party plugin with ${what} is left out while all other plugins run`, async () => {
      const { names, errors } = await bootPlugins(
        { name: 'core' },
        { ...plugin, name: 'broken', thirdParty: true },
        greeter,
      );
      expect(names).to.deep.equal(['core', 'greeter']);
      expect(errors).to.have.length(1);
      expect(errors[0]).to.match(error);
    });
  }

  for (const [what, plugin] of [
    ['of another type', { manifest: { type: 'hook' } }],
    ['without JSON', { packageText: '{' }],
  ] as const) {
    it(`packages ${what} are ignored without a log entry`, async () => {
      const { names, errors } = await bootPlugins({ ...plugin, name: 'other', thirdParty: true }, greeter);
      expect(names).to.deep.equal(['greeter']);
      expect(errors).to.deep.equal([]);
    });
  }

  it('a third-party plugin that fails is left out together with plugins that need it', async () => {
    const moon = service('moon', { version: '1.0.0' });
    const { names, errors } = await bootPlugins(
      {
        name: 'rocket',
        thirdParty: true,
        manifest: { uses: { moon: '^1.0.0' } },
        register: (host) => host.use({ moon }),
      },
      { name: 'moon', thirdParty: true, manifest: { provides: { moon: '1.0.0' } }, register: () => JSON.parse('no') },
      greeter,
    );
    expect(names).to.deep.equal(['greeter']);
    expect(errors).to.have.length(2);
  });

  it('a failed register leaves no contribution behind', async () => {
    const half: TestPlugin = {
      ...greeter,
      name: 'half',
      register(host) {
        greeter.register?.(host);
        throw new Error('half-way');
      },
    };
    await withBootedTestPlugins([half], async ({ kernel }) => {
      const reply = await createSender(`http://127.0.0.1:${(await kernel.listen()).port}`)('GET', '/');
      expect(reply.status).to.equal(404);
    });
  });

  it('a failed start runs the stop hooks once and leaves no contribution behind', async () => {
    const pages: string[] = [];
    const half: TestPlugin = {
      ...greeter,
      name: 'half',
      register(host) {
        greeter.register?.(host);
        host.onStart(() => void pages.push('start'));
        host.onStart(() => Promise.reject(new Error('half-way')));
        host.onStop(() => void pages.push('stop'));
      },
    };
    await withBootedTestPlugins([{ name: 'core' }, half], async ({ kernel }) => {
      await kernel.migrate();
      await kernel.start();
      expect(pages).to.deep.equal(['start', 'stop']);
      const reply = await createSender(`http://127.0.0.1:${(await kernel.listen()).port}`)('GET', '/');
      expect(reply.status).to.equal(404);
      await kernel.stop();
      expect(pages).to.deep.equal(['start', 'stop']);
    });
  });

  it('a third-party plugin cannot take the name of a core plugin', async () => {
    const { names, errors } = await bootPlugins({ name: 'core' }, { name: 'core', thirdParty: true }, greeter);
    expect(names).to.deep.equal(['core', 'greeter']);
    expect(errors[0]).to.match(/validate: the name core already belongs to core/);
  });

  it('a third-party plugin cannot replace a service or a capability of a core plugin', async () => {
    const clock = service('clock', { version: '1.0.0' });
    const provider = (name: string, thirdParty: boolean): TestPlugin => ({
      name,
      thirdParty,
      manifest: { provides: { clock: '1.0.0' } },
      register: (host) => host.provide(clock, {}),
    });
    const impostor: TestPlugin = {
      name: 'impostor',
      thirdParty: true,
      manifest: { contributes: { capabilities: { names: ['log'] } } },
      register: (host) =>
        host.contribute(facet('capabilities'), {
          name: 'log',
          member: 'log',
          schema: {},
          bind: () => ({ info: () => {} }),
          describe: () => [],
          widens: () => false,
        }),
    };
    const { names, errors } = await bootPlugins(provider('core', false), provider('copy', true), impostor);
    expect(names).to.deep.equal(['core']);
    expect(errors).to.have.length(2);
  });

  it('a core plugin that fails stops the boot', async () => {
    const failure = await captureError<BootFailure>(
      bootPlugins({ name: 'core', register: (host) => host.log }, greeter),
    );
    expect([failure.plugin, failure.phase]).to.deep.equal(['core', 'register']);
  });
});
