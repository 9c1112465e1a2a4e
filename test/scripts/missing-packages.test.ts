import { expect } from 'chai';
import { BootFailure } from '#kernel/boot';
import { assertPackagesInstalled } from '../../scripts/missing-packages.ts';
import { withBootedTestPlugins } from '../support/test-plugins.ts';

const failureOf = async (packages: readonly string[]): Promise<unknown> => {
  let thrown: unknown;
  await withBootedTestPlugins([{ name: 'p', manifest: { capabilities: { native: { packages } } } }], ({ kernel }) => {
    try {
      assertPackagesInstalled(kernel.plugins);
    } catch (error) {
      thrown = error;
    }
  });
  return thrown;
};

describe('packages that plugins import on first use', () => {
  it('a missing package stops the start with plugin, phase, reason and remedy', async () => {
    const failure = await failureOf(['node-of-nothing', '@unknown/nothing']);
    expect(failure).to.be.instanceOf(BootFailure);
    const { plugin, phase, message, remedy } = failure as BootFailure;
    expect({ plugin, phase, message, remedy }).to.deep.equal({
      plugin: 'p',
      phase: 'register',
      message: 'it needs packages that are not installed: node-of-nothing, @unknown/nothing',
      remedy: 'run "npm install" in the folder of the service',
    });
  });
});
