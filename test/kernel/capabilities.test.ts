import { expect } from 'chai';
import { authorities, type BootFailure, facet, type Host, isSystem, service } from '#kernel';
import { withAuditSentences } from '../../plugins/broker/library.ts';
import { publicCaller } from '../support/caller.ts';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../support/test-plugins.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tested uses include undeclared ones
type AnyHost = Host<any>;

interface Case {
  readonly capability: string;
  /** Members of the manifest that declare the capability. */
  readonly manifest: Record<string, unknown>;
  /** Uses the capability and returns a value that shows that the use succeeded. */
  use(host: AnyHost): unknown;
  readonly worked: unknown;
  /** The words after "may not" in the message of the refusal. */
  readonly refusal: string;
  readonly beside?: readonly TestPlugin[];
}

const clock = service<{ now(): string }>('clock', { version: '1.0.0' });
const shelf = facet<string>('shelf');
const nothing = () => {};

/** One case for each capability except `database`, which needs a server and is tested in `capabilities-database.test.ts`. */
const cases: readonly Case[] = [
  {
    capability: 'config',
    manifest: { config: { P_KEY: { type: 'string', default: 'value' } } },
    use: (host) => host.config.P_KEY,
    worked: 'value',
    refusal: 'use host.config',
  },
  {
    capability: 'log',
    manifest: { capabilities: { log: true } },
    use: (host) => typeof host.log.info,
    worked: 'function',
    refusal: 'use host.log',
  },
  {
    capability: 'events',
    manifest: { capabilities: { events: { filter: ['a.b'] } } },
    use: (host) => typeof host.events.onFilter('a.b', nothing),
    worked: 'function',
    refusal: 'use host.events',
  },
  {
    capability: 'services',
    manifest: { provides: { clock: '1.0.0' } },
    use: (host) => host.provide(clock, { now: () => 'noon' }),
    worked: undefined,
    refusal: 'provide clock 1.0.0',
  },
  {
    capability: 'services',
    manifest: { uses: { clock: '^1.0.0' } },
    use: (host) => host.use({ clock }).clock.now(),
    worked: 'noon',
    refusal: 'use clock',
    beside: [
      {
        name: 'provider',
        manifest: { provides: { clock: '1.0.0' } },
        register: (host) => host.provide(clock, { now: () => 'noon' }),
      },
    ],
  },
  {
    capability: 'facets',
    manifest: { facets: ['shelf'] },
    use: (host) => host.define(shelf),
    worked: undefined,
    refusal: 'define the facet shelf',
  },
  {
    capability: 'contributes',
    manifest: { contributes: { shelf: {} } },
    use: (host) => typeof host.contribute(shelf, 'book'),
    worked: 'function',
    refusal: 'contribute to shelf',
    beside: [{ name: 'library', manifest: { facets: ['shelf'] }, register: (host) => host.define(shelf) }],
  },
  {
    capability: 'system',
    manifest: { capabilities: { system: { reasons: ['nightly cleaning'] } } },
    use: (host) => host.asSystem('nightly cleaning').owner,
    worked: 'p@1.0.0',
    refusal: 'use host.asSystem',
  },
];

/** Runs `use` in a plugin with this manifest and returns its result. */
async function answerOf({ use, beside = [] }: Case, manifest: Record<string, unknown>): Promise<unknown> {
  let answer: unknown;
  await withBootedTestPlugins(
    [...beside, { name: 'p', manifest, register: (host) => void (answer = use(host)) }],
    () => {},
  );
  return answer;
}

/** The message of the boot failure of a plugin with this manifest, whose `use` the kernel denies. */
async function refusalOf(manifest: Record<string, unknown>, use: (host: AnyHost) => unknown): Promise<string> {
  const failure = await captureError<BootFailure>(
    withBootedTestPlugins([{ name: 'p', manifest, register: (host) => void use(host) }], () => {}),
  );
  expect(failure.cause).to.include({ code: 'CAPABILITY_DENIED', status: 500 });
  expect([failure.plugin, failure.phase]).to.deep.equal(['p', 'register']);
  return failure.message;
}

describe('kernel capabilities', () => {
  for (const one of cases) {
    const declared = Object.keys(one.manifest)[0];
    it(`${one.capability}: a plugin that declares ${declared} may ${one.refusal}`, async () => {
      expect(await answerOf(one, one.manifest)).to.equal(one.worked);
    });

    it(`${one.capability}: a plugin without ${declared} is denied with CAPABILITY_DENIED, which names it`, async () => {
      const failure = await captureError<BootFailure>(answerOf(one, {}));
      expect(failure.cause).to.include({ code: 'CAPABILITY_DENIED' });
      expect(failure.plugin).to.equal('p');
      expect(failure.message).to.equal(`p may not ${one.refusal}: its manifest does not grant it (${one.capability})`);
    });
  }

  it('events: a plugin may listen only to the patterns granted for filters and for actions', async () => {
    const manifest = { capabilities: { events: { filter: ['a.*'], action: ['b.*'] } } };
    const refused = (use: (host: AnyHost) => unknown) => refusalOf(manifest, use);
    expect(await refused((host) => host.events.onFilter('**', nothing))).to.contain('p may not listen to ** (filter)');
    expect(await refused((host) => host.events.onFilter('b.*', nothing))).to.contain(
      'p may not listen to b.* (filter)',
    );
    expect(await refused((host) => host.events.onAction('a.*', nothing))).to.contain(
      'p may not listen to a.* (action)',
    );
  });

  it('events: a plugin may emit only what the granted patterns cover', async () => {
    const emitting = (emit: string[] | undefined) => ({
      capabilities: { events: { action: ['x'], ...(emit ? { emit } : {}) } },
    });
    const caller = publicCaller();
    for (const grant of [undefined, ['items.*']]) {
      expect(
        await refusalOf(emitting(grant), (host) => host.events.action(['items.create', 'auth.login'], { caller })),
      ).to.match(/p may not emit (items\.create|auth\.login): its manifest does not grant it \(events\)/);
    }
    const holder: { host?: AnyHost } = {};
    await withBootedTestPlugins(
      [{ name: 'p', manifest: emitting(['items.*']), register: (host) => void (holder.host = host) }],
      async () => {
        const { events } = holder.host as AnyHost;
        expect(await events.filter(['items.create'], 'payload', { caller })).to.equal('payload');
        const failure = await captureError(events.filter(['auth.login'], 'payload', { caller }));
        expect(failure.detail).to.contain('p may not emit auth.login');
      },
    );
  });

  it('services: a plugin may not provide a version other than the declared one', async () => {
    const newer = service('clock', { version: '2.0.0' });
    expect(await refusalOf({ provides: { clock: '1.0.0' } }, (host) => host.provide(newer, {}))).to.contain(
      'p may not provide clock 2.0.0',
    );
  });

  it('system: host.asSystem takes declared reasons only, and the ledger counts each call', async () => {
    const manifest = { capabilities: { system: { reasons: ['nightly cleaning'] } } };
    expect(await refusalOf(manifest, (host) => host.asSystem('curiosity'))).to.contain(
      'p may not act without a user for "curiosity"',
    );
    const holder: { host?: AnyHost } = {};
    await withBootedTestPlugins(
      [{ name: 'p', manifest, register: (host) => void (holder.host = host) }],
      ({ kernel }) => {
        const caller = (holder.host as AnyHost).asSystem('nightly cleaning');
        (holder.host as AnyHost).asSystem('nightly cleaning');
        expect(caller).to.include({ admin: true, reason: 'nightly cleaning', owner: 'p@1.0.0' });
        expect(isSystem(caller)).to.equal(true);
        expect(isSystem({ ...caller } as never)).to.equal(false);
        expect(Object.isFrozen(caller)).to.equal(true);
        expect(kernel.ledger.entries()[0]).to.include({
          kind: 'system',
          plugin: 'p',
          what: 'nightly cleaning',
          count: 2,
        });
      },
    );
  });

  it('system: host.asSystem takes over address, user agent and origin of a client, and no right of it', async () => {
    const manifest = { capabilities: { system: { reasons: ['nightly cleaning'] } } };
    await withBootedTestPlugins(
      [
        {
          name: 'p',
          manifest,
          register(host: AnyHost) {
            const client = {
              ip: '192.0.2.1',
              userAgent: 'agent',
              origin: 'scim:corp',
              user: 'x',
              role: 'y',
              admin: false,
              share: 'z',
            };
            const caller = host.asSystem('nightly cleaning', client);
            expect(caller).to.include({ ip: '192.0.2.1', userAgent: 'agent', origin: 'scim:corp', owner: 'p@1.0.0' });
            expect(caller).to.include({ user: null, role: null, admin: true });
            expect(caller).not.to.have.property('share');
          },
        },
      ],
      () => undefined,
    );
  });

  it('the ledger counts each denial', async () => {
    const holder: { host?: AnyHost } = {};
    await withBootedTestPlugins([{ name: 'p', register: (host) => void (holder.host = host) }], async ({ kernel }) => {
      for (let at = 0; at < 3; at++) await captureError(() => (holder.host as AnyHost).log);
      expect(kernel.ledger.entries()[0]).to.include({
        kind: 'denied',
        plugin: 'p',
        what: 'log: use host.log',
        count: 3,
      });
    });
  });

  it('host denies a member that no capability provides', async () => {
    expect(await refusalOf({}, (host) => (host as unknown as Record<string, unknown>).database)).to.equal(
      'p may not use host.database, which no capability provides: its manifest does not grant it (database)',
    );
  });

  it('host denies assignments to its members', async () => {
    const failure = await captureError<BootFailure>(
      withBootedTestPlugins([{ name: 'p', register: (host) => Object.assign(host, { log: console }) }], () => {}),
    );
    expect(failure.message).to.contain('p may not set host.log');
  });

  it('a plugin may define a capability, which other manifests grant and the audit describes', async () => {
    const lamp: TestPlugin = {
      name: 'lamp',
      manifest: { contributes: { capabilities: { names: ['lamp'] } } },
      register: (host) =>
        host.contribute(facet('capabilities'), {
          name: 'lamp',
          member: 'lamp',
          schema: { type: 'object', required: ['colours'] },
          bind: (grant: { colours: string[] }, subject: { name: string }) => ({
            shine: (colour: string) => grant.colours.includes(colour) && `${colour} for ${subject.name}`,
          }),
          describe: (grant: { colours: string[] }) => authorities('provides', grant.colours, 'light'),
          widens: () => false,
        }),
    };
    const answers: unknown[] = [];
    const reader: TestPlugin = {
      name: 'reader',
      manifest: { capabilities: { lamp: { colours: ['red'] } } },
      register: (host) => {
        const held = (host as unknown as { lamp: { shine(colour: string): unknown } }).lamp;
        answers.push(held.shine('red'), held.shine('blue'));
      },
    };
    await withBootedTestPlugins([lamp, reader], ({ kernel }) => {
      expect(answers).to.deep.equal(['red for reader', false]);
      expect(withAuditSentences(kernel.audit()).map((line) => line.sentences)).to.deep.equal([
        ['defines capability lamp'],
        ['provides red (light)'],
      ]);
    });
    const other: TestPlugin = { ...lamp, manifest: { contributes: { capabilities: { names: ['torch'] } } } };
    const failure = await captureError<BootFailure>(withBootedTestPlugins([other], () => {}));
    expect(failure.message).to.contain('capability lamp is not among the declared names');
  });
});
