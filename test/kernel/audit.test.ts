import { expect } from 'chai';
import { facet } from '#kernel';
import { renderAudit } from '../../plugins/broker/library.ts';
import { type TestPlugin, withBootedTestPlugins } from '../support/test-plugins.ts';

const everything: TestPlugin = {
  name: 'everything',
  manifest: {
    facets: ['shelf'],
    provides: { clock: '1.0.0' },
    contributes: { 'http.middleware': { phases: ['edge', 'route'] }, commands: {} },
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

describe('Kernel.audit()', () => {
  it('lists the authorities of each plugin as sentences, sorted by plugin', async () => {
    const modest: TestPlugin = { name: 'a-modest', manifest: { uses: { clock: '*' } } };
    await withBootedTestPlugins([everything, modest], ({ kernel }) => {
      expect(renderAudit(kernel.audit())).to.equal(
        [
          'a-modest    internal  uses clock',
          'everything  internal  contributes to the command line',
          '                      handles requests in the phase edge, route',
          '                      opens shelf',
          '                      reads the settings A_KEY, B_KEY',
          '                      may change items.* (before it is stored)',
          '                      may change items.* (queries before they run)',
          '                      may change items.* (rows as they are read, which slows these reads)',
          '                      listens to auth.login',
          '                      emits shelf.full',
          '                      logs',
          '                      loads node:fs, pg',
          '                      provides clock',
          '                      runs as system (cleaning)',
          '                      runs as system (counting)',
          '',
        ].join('\n'),
      );
    });
  });

  it('never contains the value of a setting', async () => {
    await withBootedTestPlugins(
      [everything],
      ({ kernel }) => expect(JSON.stringify(kernel.audit())).not.to.contain('hunter2'),
      {
        environment: { A_KEY: 'hunter2' },
      },
    );
  });
});
