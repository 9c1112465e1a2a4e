import { expect } from 'chai';
import { type BootFailure, service } from '#kernel';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../support/test-plugins.ts';

const clock = service<{ now(): string }>('clock', { version: '1.2.0' });

const provider = (name = 'provider'): TestPlugin => ({
  name,
  manifest: { provides: { clock: '1.2.0' } },
  register: (host) => host.provide(clock, { now: () => 'noon' }),
});

describe('host.provide() and host.use()', () => {
  it('use() returns the provided object to a plugin whose manifest lists the service', async () => {
    let time = '';
    const user: TestPlugin = {
      name: 'user',
      manifest: { uses: { clock: '^1.1.0' } },
      register: (host) => void (time = host.use({ clock }).clock.now()),
    };
    await withBootedTestPlugins([user, provider()], () => expect(time).to.equal('noon'));
  });

  it('boot rejects a second provider of a service and names the first', async () => {
    const failure = await captureError<BootFailure>(
      withBootedTestPlugins([provider('one'), provider('two')], () => {}),
    );
    expect([failure.plugin, failure.message]).to.deep.equal(['two', 'the service clock already belongs to one']);
  });

  it('use() fails when the provider declared the service but did not call provide()', async () => {
    const user: TestPlugin = {
      name: 'user',
      manifest: { uses: { clock: '*' } },
      register: (host) => host.use({ clock }),
    };
    const empty: TestPlugin = { name: 'empty', manifest: { provides: { clock: '1.2.0' } } };
    const failure = await captureError<BootFailure>(withBootedTestPlugins([empty, user], () => {}));
    expect([failure.plugin, failure.message]).to.deep.equal(['user', 'service clock * is not provided']);
  });
});
