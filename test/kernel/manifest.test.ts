import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../support/test-plugins.ts';

/** Boots the plugins and returns the failure; fails the test if the boot succeeds. */
const refusal = (...plugins: TestPlugin[]) => captureError<BootFailure>(withBootedTestPlugins(plugins, () => {}));

describe('validation of manifests', () => {
  it('a manifest with an unknown member is rejected by name', async () => {
    const failure = await refusal({ name: 'p', manifest: { runtimme: 'confined-server' } });
    expect(failure.phase).to.equal('validate');
    expect(failure.message).to.contain('/service:extension must NOT have additional properties "runtimme"');
    expect(failure.remedy).to.be.a('string');
  });

  it('a manifest with a misplaced member is rejected', async () => {
    const failure = await refusal({ name: 'p', manifest: { config: { P_KEY: { type: 'string', required: true } } } });
    expect(failure.message).to.contain(
      '/service:extension/config/P_KEY must NOT have additional properties "required"',
    );
  });

  it('all problems of one manifest are reported together', async () => {
    const failure = await refusal({ name: 'p', manifest: { surprise: 1, uses: ['items'], facets: 'all' } });
    expect(failure.message).to.contain('surprise').and.contain('/uses').and.contain('/facets');
  });

  it('a manifest without required members is rejected', async () => {
    const failure = await refusal({ name: 'p', packageText: JSON.stringify({ name: 'p', version: '1.0.0' }) });
    expect(failure.message).to.contain("must have required property 'service:extension'");
  });

  it('a path outside of the package is rejected', async () => {
    for (const path of ['../other/index.js', '/etc/index.js', 'a/../../b.js']) {
      expect((await refusal({ name: 'p', manifest: { path } })).message).to.contain('/service:extension/path');
    }
  });

  it('a setting whose name is not upper case is rejected', async () => {
    const failure = await refusal({ name: 'p', manifest: { config: { secret: { type: 'string' } } } });
    expect(failure.message).to.contain('/service:extension/config');
  });

  it('a package for another host version is rejected with both versions', async () => {
    for (const host of ['^2.0.0', '<1.0.0', 'not a range']) {
      const failure = await refusal({ name: 'p', manifest: { host } });
      expect(failure.plugin).to.equal('p');
      expect(failure.message).to.equal(`it was written for host ${host}; this is 1.0.0`);
    }
  });

  it('a version that is not semantic is rejected', async () => {
    expect((await refusal({ name: 'p', version: 'one' })).message).to.equal('version "one" is not a semantic version');
  });

  it('a package.json that is not JSON is rejected with its path', async () => {
    const failure = await refusal({ name: 'p', packageText: '{ "name": "p", ' });
    expect(failure.phase).to.equal('discover');
    expect(failure.message).to.match(/^its package\.json is not JSON: /);
    expect(failure.remedy).to.match(/package\.json$/);
  });

  it('two packages with the same name are rejected', async () => {
    const failure = await refusal({ name: 'twin' }, { name: 'twin' });
    expect(failure.message).to.equal('the name twin already belongs to twin');
  });

  it('a grant that does not fit the schema of its capability is rejected', async () => {
    const failure = await refusal({ name: 'p', manifest: { capabilities: { events: { listen: ['*'] } } } });
    expect(failure.plugin).to.equal('p');
    expect(failure.message).to.contain('/capabilities/events must NOT have additional properties "listen"');
    expect((await refusal({ name: 'p', manifest: { capabilities: { log: 'yes' } } })).message).to.contain(
      '/capabilities/log',
    );
    expect((await refusal({ name: 'p', manifest: { capabilities: { system: { reasons: [] } } } })).message).to.contain(
      '/capabilities/system/reasons',
    );
  });

  it('an unknown capability is rejected with the list of known ones', async () => {
    const failure = await refusal({ name: 'p', manifest: { capabilities: { teleport: true } } });
    expect(failure.message).to.contain(
      '/capabilities/teleport is not a known capability (known: config, events, identity, log, native, packages, services, system)',
    );
  });

  it('a contribution to an unknown facet is rejected', async () => {
    const failure = await refusal({ name: 'p', manifest: { contributes: { 'no.such': {} } } });
    expect(failure.message).to.contain('/contributes/no.such is not a known facet');
  });

  it("a section under contributes is checked against the schema of the facet's owner", async () => {
    const failure = await refusal({
      name: 'p',
      manifest: { contributes: { 'http.middleware': { phases: ['late'] } } },
    });
    expect(failure.message).to.contain(
      '/contributes/http.middleware/phases/0 must be equal to one of the allowed values',
    );
    expect(failure.message).to.contain('edge, limit, identify, cache, route');
  });

  it('a package without a register function is rejected', async () => {
    const failure = await refusal({ name: 'p', code: 'export const register = () => {};' });
    expect(failure.phase).to.equal('register');
    expect(failure.message).to.equal('index.js has no default export made by definePlugin');
  });

  it('no code of a package runs before all manifests are valid', async () => {
    const ran: string[] = [];
    await refusal(
      { name: 'first', register: () => ran.push('first') },
      { name: 'second', manifest: { nonsense: true } },
    );
    expect(ran).to.deep.equal([]);
  });
});
