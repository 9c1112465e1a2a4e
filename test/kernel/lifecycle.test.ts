import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../support/test-plugins.ts';

/** A plugin that appends each of its phases to `pages`, and throws in the phase `fails`. */
const diary = (name: string, pages: string[], fails?: string): TestPlugin => ({
  name,
  register(host) {
    const write = (what: string) => () => {
      pages.push(`${name} ${what}`);
      if (fails === what) throw new Error(`${what} went wrong`);
    };
    write('register')();
    host.onStart(write('start'));
    host.onMigrate(write('migrate'));
    host.onStop(write('stop'));
    host.onStop(write('stop too'));
  },
});

describe('lifecycle of plugins', () => {
  it('the kernel runs each phase in plugin order and stop hooks in reverse', async () => {
    const pages: string[] = [];
    await withBootedTestPlugins([diary('a', pages), diary('b', pages)], async ({ kernel }) => {
      expect(pages).to.deep.equal(['a register', 'b register']);
      await kernel.migrate();
      await kernel.start();
      await kernel.listen();
      pages.push('—');
      await kernel.stop();
      await kernel.stop();
    });
    expect(pages).to.deep.equal([
      ...['a register', 'b register', 'a migrate', 'b migrate', 'a start', 'b start', '—'],
      ...['b stop too', 'b stop', 'a stop too', 'a stop'],
    ]);
  });

  it('boot rejects an asynchronous register function', async () => {
    const failure = await captureError<BootFailure>(
      withBootedTestPlugins([{ name: 'slow', register: async () => {} }], () => {}),
    );
    expect([failure.plugin, failure.phase, failure.message]).to.deep.equal([
      'slow',
      'register',
      'register must be synchronous',
    ]);
  });

  it('boot names the plugin whose register function throws', async () => {
    const failing = { name: 'p', register: () => JSON.parse('{') };
    const failure = await captureError<BootFailure>(withBootedTestPlugins([failing], () => {}));
    expect([failure.name, failure.plugin, failure.phase]).to.deep.equal(['BootFailure', 'p', 'register']);
  });

  it('stop() runs the stop hooks of started plugins after a start fails', async () => {
    const pages: string[] = [];
    await withBootedTestPlugins(
      [diary('a', pages), diary('b', pages, 'start'), diary('c', pages)],
      async ({ kernel }) => {
        await kernel.migrate();
        const failure = await captureError<BootFailure>(kernel.start());
        expect([failure.plugin, failure.phase, failure.message]).to.deep.equal(['b', 'start', 'start went wrong']);
        pages.length = 0;
        await kernel.stop();
        expect(pages.filter((page) => page.startsWith('a') || page.startsWith('b'))).to.deep.equal([
          ...['b stop too', 'b stop', 'a stop too', 'a stop'],
        ]);
      },
    );
  });

  it('stop() continues after a stop hook fails, and logs the owner of the hook', async () => {
    const pages: string[] = [];
    await withBootedTestPlugins(
      [diary('a', pages), diary('b', pages, 'stop too')],
      async ({ kernel, log }) => {
        await kernel.migrate();
        await kernel.start();
        await kernel.stop();
        expect(pages.slice(-4)).to.deep.equal(['b stop too', 'b stop', 'a stop too', 'a stop']);
        expect(log.find((line) => line.msg === 'stopping failed')).to.include({ owner: 'b' });
      },
      { environment: { LOG_LEVEL: 'info' } },
    );
  });

  for (const phase of ['migrate', 'start'] as const) {
    it(`the kernel names the plugin whose ${phase} hook exceeds its timeout`, async () => {
      const stuck: TestPlugin = {
        name: 'stuck',
        register: (host) => host[phase === 'migrate' ? 'onMigrate' : 'onStart'](() => new Promise<void>(() => {})),
      };
      await withBootedTestPlugins(
        [stuck],
        async ({ kernel }) => {
          if (phase === 'start') await kernel.migrate();
          const failure = await captureError<BootFailure>(kernel[phase]());
          expect([failure.plugin, failure.phase, failure.message]).to.deep.equal([
            'stuck',
            phase,
            'it did not end within 0.02 s',
          ]);
        },
        { timeouts: { [phase]: 20 } },
      );
    });
  }

  it('stop() does not wait for a stop hook longer than its timeout', async () => {
    const stuck: TestPlugin = { name: 'stuck', register: (host) => host.onStop(() => new Promise<void>(() => {})) };
    await withBootedTestPlugins(
      [stuck],
      async ({ kernel, log }) => {
        await kernel.migrate();
        await kernel.stop();
        expect(log.find((line) => line.msg === 'stopping failed')).to.include({ owner: 'stuck' });
      },
      { environment: { LOG_LEVEL: 'info' }, timeouts: { stop: 20 } },
    );
  });
});
