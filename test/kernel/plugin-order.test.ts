import { expect } from 'chai';
import { type BootFailure, service } from '#kernel';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../support/test-plugins.ts';

const orderOf = (plugins: readonly TestPlugin[]) =>
  withBootedTestPlugins(plugins, ({ kernel }) => kernel.plugins.map((plugin) => plugin.name));

const provides = (name: string, id: string, uses: Record<string, string> = {}): TestPlugin => ({
  name,
  manifest: { provides: { [id]: '1.0.0' }, uses },
  register: (host) => host.provide(service(id, { version: '1.0.0' }), {}),
});

describe('sortPlugins()', () => {
  it('puts providers before users, whatever order the composition lists them in', async () => {
    const names = await orderOf([
      { name: 'user', manifest: { uses: { b: '^1.0.0', a: '^1.0.0' } } },
      provides('b', 'b', { a: '^1.0.0' }),
      provides('a', 'a'),
    ]);
    expect(names).to.deep.equal(['a', 'b', 'user']);
  });

  it('does not move the owner of a facet before its contributors', async () => {
    const names = await orderOf([
      { name: 'contributor', manifest: { contributes: { shelf: {} } } },
      {
        name: 'owner',
        manifest: { facets: ['shelf'] },
        register: (host) => host.define({ id: 'shelf', combine: (all) => all }),
      },
    ]);
    expect(names).to.deep.equal(['contributor', 'owner']);
  });

  it('puts the plugin that defines a capability before plugins that hold it', async () => {
    const names = await orderOf([
      { name: 'holder', manifest: { capabilities: { lamp: true } } },
      {
        name: 'definer',
        manifest: { contributes: { capabilities: { names: ['lamp'] } } },
        register: (host) =>
          host.contribute(
            { id: 'capabilities', combine: (all) => all },
            {
              name: 'lamp',
              schema: { const: true },
              bind: () => 'on',
              describe: () => [],
              widens: () => false,
            },
          ),
      },
    ]);
    expect(names).to.deep.equal(['definer', 'holder']);
  });

  it('keeps the order of the composition where no plugin needs another', async () => {
    expect(await orderOf([{ name: 'c' }, { name: 'a' }, { name: 'b' }])).to.deep.equal(['c', 'a', 'b']);
  });

  it('rejects a dependency cycle and prints it as a path', async () => {
    const failure = await captureError<BootFailure>(
      orderOf([
        provides('a', 'a', { c: '^1.0.0' }),
        provides('b', 'b', { a: '^1.0.0' }),
        provides('c', 'c', { b: '^1.0.0' }),
      ]),
    );
    expect(failure.phase).to.equal('order');
    expect(failure.message).to.equal('plugins form a dependency cycle: a → c → b → a');
    expect(failure.remedy).to.contain('facet');
  });

  it('rejects a plugin whose service no plugin provides, and names both', async () => {
    const failure = await captureError<BootFailure>(
      orderOf([{ name: 'lonely', manifest: { uses: { clock: '^1.0.0' } } }]),
    );
    expect([failure.plugin, failure.phase]).to.deep.equal(['lonely', 'order']);
    expect(failure.message).to.equal('it uses clock, which no plugin provides');
    expect(failure.remedy).to.equal('add a plugin that provides clock ^1.0.0');
  });

  it('rejects a service version outside of the range, and names both versions', async () => {
    const failure = await captureError<BootFailure>(
      orderOf([provides('a', 'a'), { name: 'modern', manifest: { uses: { a: '^2.0.0' } } }]),
    );
    expect(failure.message).to.equal('it uses a ^2.0.0, but 1.0.0 is provided');
  });
});
