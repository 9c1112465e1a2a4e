import { expect } from 'chai';
import { capabilities, facet } from '#kernel';
import {
  coreOnlyFacet,
  coreOnlyService,
  runRefusedAttempt,
  unrestrictedService,
  validatedFacet,
} from './cheating-plugin-fixture.ts';

const LISTENS = {
  capabilities: { events: { action: ['posts.items.*'], filter: ['posts.items.create'], emit: ['cheat.*'] } },
};
const nothing = () => {};

describe('a third-party plugin at extension points', () => {
  const attempts: readonly [what: string, attempt: Parameters<typeof runRefusedAttempt>[0], message: RegExp][] = [
    [
      'to read a facet of another',
      { register: (host) => void host.read(validatedFacet) },
      /cheat may not read the facet shelf/,
    ],
    [
      'to watch a facet of another',
      { register: (host) => void host.watch(validatedFacet, nothing) },
      /read the facet shelf/,
    ],
    [
      'to define a facet that it did not declare',
      { register: (host) => host.define(facet('other')) },
      /define the facet other/,
    ],
    ['to define a facet of another', { manifest: { facets: ['shelf'] } }, /the facet shelf already belongs to core/],
    [
      'to contribute without declaring it',
      { register: (host) => void host.contribute(validatedFacet, 'a') },
      /contribute to shelf/,
    ],
    [
      'to contribute what its section does not name',
      {
        manifest: { contributes: { shelf: { names: ['a'] } } },
        register: (host) => void host.contribute(validatedFacet, 'b'),
      },
      /contribution to shelf refused: b is not declared/,
    ],
    [
      'to contribute by a copy of the facet without rules',
      {
        manifest: { contributes: { shelf: { names: ['a'] } } },
        register: (host) => void host.contribute({ id: 'shelf', combine: (all) => all }, 'b'),
      },
      /b is not declared/,
    ],
    [
      'to contribute to a facet for core plugins',
      { manifest: { contributes: { gate: {} } }, register: (host) => void host.contribute(coreOnlyFacet, 'a') },
      /gate refused: it is open to core plugins only/,
    ],
    [
      'to hold back the effects of transactions',
      { manifest: { contributes: { effects: {} } }, register: (host) => void host.contribute('effects', () => true) },
      /effects refused: it is open to core plugins only/,
    ],
    [
      'to define a capability of the kernel anew',
      { manifest: { contributes: { capabilities: { names: ['log'] } } } },
      /the capability log already belongs to the kernel/,
    ],
    [
      'to define a capability that it did not name',
      {
        manifest: { contributes: { capabilities: { names: ['lamp'] } } },
        register: (host) =>
          void host.contribute(capabilities, {
            name: 'log',
            schema: {},
            bind: () => ({}),
            describe: () => [],
            widens: () => false,
          }),
      },
      /capability log is not among the declared names/,
    ],
    [
      'to provide a service of another',
      { manifest: { provides: { clock: '1.0.0' } } },
      /the service clock already belongs to core/,
    ],
    [
      'to provide a service that it did not declare',
      { register: (host) => host.provide(unrestrictedService, { now: () => 'never' }) },
      /provide clock/,
    ],
    [
      'to use a service that it did not declare',
      { register: (host) => void host.use({ clock: unrestrictedService }) },
      /use clock/,
    ],
    [
      'to use a service for core plugins',
      { manifest: { uses: { vault: '^1.0.0' } }, register: (host) => void host.use({ vault: coreOnlyService }) },
      /use vault, which is open to core plugins only/,
    ],
    [
      'to use it by a copy of its key',
      {
        manifest: { uses: { vault: '^1.0.0' } },
        register: (host) => void host.use({ copy: { id: 'vault', version: '1.0.0' } }),
      },
      /use vault, which is open to core plugins only/,
    ],
    [
      'to replace a method of a service that others use',
      {
        manifest: { uses: { clock: '^1.0.0' } },
        register: (host) => void Object.assign(host.use({ clock: unrestrictedService }).clock, { now: () => 'never' }),
      },
      /cheat may not set clock\.now/,
    ],
    [
      'to listen to more than its grant',
      { manifest: LISTENS, register: (host) => host.events.onAction('**', nothing) },
      /listen to \*\*/,
    ],
    [
      'to listen to another collection',
      { manifest: LISTENS, register: (host) => host.events.onAction('users.items.create', nothing) },
      /listen to users\.items\.create/,
    ],
    [
      'to listen by a pattern that its grant does not contain',
      { manifest: LISTENS, register: (host) => host.events.onFilter('posts.items.*', nothing) },
      /listen to posts\.items\.\*/,
    ],
    [
      'to run work of which other third parties hear nothing',
      { manifest: LISTENS, register: (host) => host.events.withoutExtensionListeners(nothing) },
      /cheat may not skip listeners/,
    ],
    [
      'to put a member on its host',
      { register: (host) => void Object.assign(host, { db: {} }) },
      /cheat may not set host\.db/,
    ],
    [
      'to use a capability that does not exist',
      { register: (host) => void (host as { root?: unknown }).root },
      /use host\.root/,
    ],
    [
      'to ask for a capability that does not exist',
      { manifest: { capabilities: { root: true } } },
      /root is not a known capability/,
    ],
    ['to take the name of a core plugin', { manifest: {}, register: (host) => host.log }, /use host\.log/],
    [
      'to handle requests in a phase that it did not declare',
      {
        manifest: { contributes: { 'http.middleware': { phases: ['route'] } } },
        register: (host) => void host.contribute('http.middleware', { name: 'x', phase: 'edge', handle: nothing }),
      },
      /phase edge is not declared/,
    ],
  ];
  for (const [what, attempt, message] of attempts) {
    it(`a third-party plugin is denied ${what}`, async () => {
      const outcome = await runRefusedAttempt(attempt);
      expect(outcome.message).to.match(message);
      expect(outcome.denied).not.to.deep.equal([]);
    });
  }

  it('a third-party plugin may listen to one event of a wider grant, and unsubscribe', async () => {
    const outcome = await runRefusedAttempt({
      manifest: LISTENS,
      later(own) {
        const off = own.events.onAction('posts.items.create', nothing);
        expect(own.events.hasListeners('action', 'posts.items.create')).to.equal(true);
        expect(own.events.hasListeners('action', 'posts.items.update')).to.equal(false);
        off();
        expect(own.events.hasListeners('action', 'posts.items.create')).to.equal(false);
        return own.events.action(['users.create'], {} as never);
      },
    });
    expect(outcome.message).to.contain('cheat may not emit users.create');
  });
});

describe('#kernel/boot', () => {
  it('is not exported by #kernel, which plugins import', async () => {
    const kernel = (await import('@tenon/kernel' as string)) as Record<string, unknown>;
    expect(Object.keys(kernel)).not.to.include.members(['boot']);
    for (const name of ['boot', 'mintCaller', 'mintSystemCaller', 'Settings', 'FacetStore'])
      expect(kernel, name).not.to.have.property(name);
    const failure = await import('@tenon/kernel/boot' as string).catch((error) => error);
    expect(failure.code).to.equal('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});
