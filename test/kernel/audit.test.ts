import { expect } from 'chai';
import { auditText, facet } from '#kernel';
import { type PluginSketch, withPlugins } from '../support/plugin.ts';

const everything: PluginSketch = {
  name: 'everything',
  manifest: {
    facets: ['shelf'],
    provides: { clock: '1.0.0' },
    contributes: { 'http.middleware': { phases: ['edge', 'route'] }, health: {} },
    config: { B_KEY: { type: 'string' }, A_KEY: { type: 'string', secret: true } },
    capabilities: {
      log: true,
      events: { filter: ['items.*'], action: ['auth.login'], emit: ['shelf.full'] },
      system: { reasons: ['cleaning', 'counting'] },
      native: { modules: ['fs'], packages: ['pg'] },
    },
  },
  register: (host) => host.define(facet('shelf')),
};

describe('audit', () => {
  it('says what each plugin may do, sorted, in sentences', async () => {
    const modest: PluginSketch = { name: 'a-modest', manifest: { uses: { clock: '*' } } };
    await withPlugins([everything, modest], ({ kernel }) => {
      expect(auditText(kernel.audit())).to.equal(
        [
          'a-modest    internal  uses clock',
          'everything  internal  reports on its health',
          '                      sees every request (edge, route)',
          '                      opens shelf',
          '                      reads the settings A_KEY, B_KEY',
          '                      may change or refuse items.* before they are stored',
          '                      may change or refuse queries before they run: items.*',
          '                      may change rows as they are read, which slows these reads: items.*',
          '                      is told after auth.login',
          '                      emits shelf.full',
          '                      writes to the log',
          '                      loads node:fs, pg',
          '                      provides clock',
          '                      acts without a user when: cleaning; counting',
          '',
        ].join('\n'),
      );
    });
  });

  it('never contains the value of a setting', async () => {
    await withPlugins([everything], ({ kernel }) => expect(JSON.stringify(kernel.audit())).not.to.contain('hunter2'), {
      environment: { A_KEY: 'hunter2' },
    });
  });
});
