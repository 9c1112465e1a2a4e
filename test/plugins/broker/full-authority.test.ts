import { expect } from 'chai';
import { type EventsApi, errorEnvelope, type Host } from '#kernel';
import { SettingsStore } from '../../../kernel/config/settings.ts';
import { broker, type PackageGrantBroker, type PackageHandle } from '../../../plugins/broker/contract.ts';
import { parseExtensionEnvironment } from '../../../plugins/extensions-full/environment.ts';
import { CustomFailure } from '../../../plugins/http/library.ts';
import { publicCaller } from '../../support/caller.ts';
import { type TestPlugin, withBootedTestPlugins } from '../../support/test-plugins.ts';

const caller = publicCaller();

interface Held {
  events: EventsApi;
  subjects: PackageGrantBroker;
}

const runner = (receive: (held: Held) => void): TestPlugin => ({
  name: 'runner',
  manifest: {
    uses: { broker: '^1.0.0' },
    capabilities: { events: { emit: ['**'], filter: ['word'], action: ['word'] } },
  },
  register: (host: Host) => receive({ events: host.events, subjects: host.use({ broker }).broker }),
});

async function withRunner<T>(work: (held: Held) => Promise<T>, environment: Record<string, string> = {}): Promise<T> {
  let held: Held | undefined;
  return withBootedTestPlugins([runner((one) => void (held = one))], () => work(held as Held), {
    environment,
    product: ['broker'],
  });
}

const registerGuest = (subjects: PackageGrantBroker, runtime: 'full' | 'confined', name = 'guest'): PackageHandle =>
  subjects.register({ name, version: '1.0.0', runtime, grants: { events: { filter: ['word'], action: ['word'] } } });

describe('extensions with full authority', () => {
  it('an unsubscribe function removes its own listener only', async () => {
    await withRunner(async ({ events, subjects }) => {
      const guest = registerGuest(subjects, 'full').get<EventsApi>('events');
      const add = (letter: string) => (payload: unknown) => `${payload}${letter}`;
      const off = guest.onFilter('word', add('a'));
      guest.onFilter('word', add('b'));
      events.onFilter('word', add('c'));
      expect(await events.filter(['word'], '', { caller })).to.equal('abc');
      off();
      off();
      expect(await events.filter(['word'], '', { caller })).to.equal('bc');
    });
  });

  it('a listener may unsubscribe while its event is emitted', async () => {
    await withRunner(async ({ events, subjects }) => {
      const guest = registerGuest(subjects, 'full').get<EventsApi>('events');
      const off = guest.onFilter('word', (payload) => {
        off();
        return `${payload}a`;
      });
      guest.onFilter('word', (payload) => `${payload}b`);
      expect(await events.filter(['word'], '', { caller })).to.equal('ab');
      expect(await events.filter(['word'], '', { caller })).to.equal('b');
    });
  });

  it('withoutExtensionListeners() skips listeners of extensions, and runs those of core plugins', async () => {
    await withRunner(async ({ events, subjects }) => {
      const received: string[] = [];
      for (const runtime of ['full', 'confined'] as const) {
        const guest = registerGuest(subjects, runtime, runtime).get<EventsApi>('events');
        guest.onFilter('word', () => void received.push(`${runtime} filter`));
        guest.onAction('word', () => void received.push(`${runtime} action`));
      }
      expect(events.withoutExtensionListeners(() => events.hasListeners('filter', 'word'))).to.equal(false);
      expect(events.hasListeners('filter', 'word')).to.equal(true);
      events.onFilter('word', () => void received.push('rule'));
      await events.withoutExtensionListeners(async () => {
        await events.filter(['word'], 1, { caller });
        events.action(['word'], { caller });
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(received).to.deep.equal(['rule']);
      await events.filter(['word'], 1, { caller });
      expect(received).to.deep.equal(['rule', 'full filter', 'confined filter', 'rule']);
    });
  });

  it('listeners of an extension stay when another package with the same name is removed', async () => {
    await withRunner(async ({ events, subjects }) => {
      const [one, two] = [registerGuest(subjects, 'full'), registerGuest(subjects, 'full')];
      two.get<EventsApi>('events').onFilter('word', () => 'two');
      one.remove();
      expect(events.hasListeners('filter', 'word')).to.equal(true);
      two.remove();
      expect(events.hasListeners('filter', 'word')).to.equal(false);
    });
  });

  it('environment values are parsed by their declared type, else by their form', () => {
    const settings = new SettingsStore({
      ...{ CONFIG_PATH: '/dev/null', LIFE: '15m', NAMES: 'a', ZIP: '007', BIG: '12345678901234567890', YES: 'true' },
      ...{ LIST: 'a, b', PART: '1.50', EMPTY: '', WORD: 'word', LONG: '1e9', TEXT: '12' },
    });
    settings.declare('a', {
      LIFE: { type: 'duration', default: 1 },
      WAIT: { type: 'duration', default: 5 },
      NAMES: { type: 'array' },
      TEXT: { type: 'string' },
      NONE: { type: 'string' },
    });
    const { CONFIG_PATH: _path, ...parsed } = parseExtensionEnvironment(settings);
    expect(parsed).to.deep.equal({
      ...{ LIFE: '15m', WAIT: 5, NAMES: ['a'], TEXT: '12', ZIP: '007', BIG: '12345678901234567890', YES: true },
      ...{ LIST: ['a', 'b'], PART: 1.5, WORD: 'word', LONG: '1e9' },
    });
  });

  it('errors of extensions keep their own message', () => {
    const failure = { status: 418, code: 'TEAPOT', message: 'short', extensions: { a: 1, code: 'X' } };
    expect(errorEnvelope(new CustomFailure('INTERNAL_SERVER_ERROR', failure), { admin: false })).to.deep.equal({
      status: 418,
      body: { errors: [{ message: 'short', extensions: { a: 1, code: 'TEAPOT' } }] },
    });
    expect(new CustomFailure('INVALID_CREDENTIALS', failure).message).to.equal('short');
  });
});
