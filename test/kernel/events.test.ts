import { expect } from 'chai';
import { type EventMeta, type EventsApi, facet } from '#kernel';
import { matchesEventPattern } from '../../kernel/events.ts';
import { publicCaller } from '../support/caller.ts';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../support/test-plugins.ts';

const caller = publicCaller();
const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A plugin that may emit every event, and its `host.events`. */
function speaker(): { plugin: TestPlugin; events: () => EventsApi } {
  let events: EventsApi | undefined;
  return {
    plugin: {
      name: 'speaker',
      manifest: { capabilities: { events: { emit: ['**'] } } },
      register: (host) => void (events = host.events),
    },
    events: () => events as EventsApi,
  };
}

type Handle = (...args: never[]) => unknown;
const listener = (name: string, kind: 'filter' | 'action', pattern: string, handle: Handle): TestPlugin => ({
  name,
  manifest: { capabilities: { events: { [kind]: [pattern] } } },
  register: (host) =>
    kind === 'filter' ? host.events.onFilter(pattern, handle as never) : host.events.onAction(pattern, handle as never),
});

describe('host.events', () => {
  it('filter() runs filters in plugin order and passes each result to the next filter', async () => {
    const { plugin, events } = speaker();
    const add = (letter: string) => async (payload: string) => {
      await tick();
      return payload + letter;
    };
    const plugins = [plugin, listener('a', 'filter', 'word', add('a')), listener('b', 'filter', 'word', add('b'))];
    await withBootedTestPlugins(plugins, async () => {
      expect(await events().filter(['word'], '-', { caller })).to.equal('-ab');
    });
  });

  it('filter() keeps the payload when a filter returns undefined, and replaces it when a filter returns null', async () => {
    const { plugin, events } = speaker();
    const plugins = [plugin, listener('a', 'filter', 'keep', () => {}), listener('b', 'filter', 'drop', () => null)];
    await withBootedTestPlugins(plugins, async () => {
      expect(await events().filter(['keep'], 'same', { caller })).to.equal('same');
      expect(await events().filter(['drop'], 'same', { caller })).to.equal(null);
    });
  });

  it('filter() rejects with the error of the first filter that throws, and runs no further filter', async () => {
    const { plugin, events } = speaker();
    let reached = false;
    const refuse = () => {
      throw new Error('no');
    };
    const plugins = [
      plugin,
      listener('a', 'filter', 'word', refuse),
      listener('b', 'filter', 'word', () => void (reached = true)),
    ];
    await withBootedTestPlugins(plugins, async () => {
      expect((await captureError(events().filter(['word'], 1, { caller }))).message).to.equal('no');
      expect(reached).to.equal(false);
    });
  });

  it('filter() emits several names in order, and meta.event holds the emitted name', async () => {
    const { plugin, events } = speaker();
    const received: string[] = [];
    const plugins = [
      plugin,
      listener('all', 'filter', '**', (_payload: unknown, meta: EventMeta) => void received.push(meta.event)),
    ];
    await withBootedTestPlugins(plugins, async () => {
      await events().filter(['items.create', 'posts.items.create'], {}, { caller, collection: 'posts' });
      expect(received).to.deep.equal(['items.create', 'posts.items.create']);
    });
  });

  it('hasListeners() is true only for events that a subscription covers', async () => {
    const { plugin, events } = speaker();
    await withBootedTestPlugins([plugin, listener('a', 'action', '*.items.*', () => {})], () => {
      expect(events().hasListeners('action', 'posts.items.create')).to.equal(true);
      expect(events().hasListeners('filter', 'posts.items.create')).to.equal(false);
      expect(events().hasListeners('action', 'auth.login')).to.equal(false);
    });
  });

  it('action() waits until the after-commit queue runs it', async () => {
    const { plugin, events } = speaker();
    const received: string[] = [];
    let open = true;
    const pending: (() => void)[] = [];
    const keeper: TestPlugin = {
      name: 'keeper',
      manifest: { contributes: { effects: {} } },
      register: (host) =>
        host.contribute(facet('effects'), (effect: () => void) => {
          if (open) pending.push(effect);
          return open;
        }),
    };
    const plugins = [
      plugin,
      keeper,
      listener('a', 'action', 'done', (meta: EventMeta) => void received.push(String(meta.key))),
    ];
    await withBootedTestPlugins(plugins, async () => {
      events().action(['done'], { caller, key: 'held' });
      await tick();
      expect(received).to.deep.equal([]);
      open = false;
      for (const effect of pending) effect();
      events().action(['done'], { caller, key: 'at once' });
      await tick();
      expect(received).to.deep.equal(['held', 'at once']);
    });
  });

  it('an action that fails is logged with its listener, and stops neither other actions nor the emitter', async () => {
    const { plugin, events } = speaker();
    const received: string[] = [];
    const broken = () => {
      throw new Error('burnt');
    };
    const plugins = [
      plugin,
      listener('broken', 'action', 'done', broken),
      listener('late', 'action', 'done', async () => {
        await tick();
        throw new Error('later');
      }),
      listener('fine', 'action', 'done', () => void received.push('fine')),
    ];
    await withBootedTestPlugins(
      plugins,
      async ({ log }) => {
        events().action(['done'], { caller });
        await tick();
        await tick();
        expect(received).to.deep.equal(['fine']);
        const failures = log.filter((line) => line.msg === 'an action failed');
        expect(failures.map((line) => [line.listener, line.event])).to.deep.equal([
          ['broken', 'done'],
          ['late', 'done'],
        ]);
        expect(failures[0]?.err).to.include({ message: 'burnt' });
      },
      { environment: { LOG_LEVEL: 'warn' } },
    );
  });

  it('filters that call each other fail at depth 8 with EVENT_LOOP_DETECTED and the path', async () => {
    const { plugin, events } = speaker();
    const again = (to: string) => (payload: unknown, meta: EventMeta) => events().filter([to], payload, meta);
    await withBootedTestPlugins(
      [plugin, listener('a', 'filter', 'ping', again('pong')), listener('b', 'filter', 'pong', again('ping'))],
      async () => {
        const failure = await captureError(events().filter(['ping'], 1, { caller }));
        expect(failure.code).to.equal('EVENT_LOOP_DETECTED');
        expect(failure.detail).to.equal(
          'events go round: ping → pong → ping → pong → ping → pong → ping → pong → ping',
        );
        // The depth is counted for each chain of events: the next one starts at zero.
        expect((await captureError(events().filter(['pong'], 1, { caller }))).detail).to.match(
          /^events go round: pong → ping/,
        );
      },
    );
  });

  it('an action that emits its own event is stopped at depth 8 and logged', async () => {
    const { plugin, events } = speaker();
    let count = 0;
    const again = (meta: EventMeta) => {
      count++;
      events().action(['echo'], meta);
    };
    await withBootedTestPlugins(
      [plugin, listener('a', 'action', 'echo', again)],
      async ({ log }) => {
        events().action(['echo'], { caller });
        for (let at = 0; at < 12; at++) await tick();
        expect(count).to.equal(8);
        expect(log.filter((line) => line.msg === 'an action failed')).to.have.length(1);
        expect(JSON.stringify(log)).to.contain('events go round: echo → echo');
      },
      { environment: { LOG_LEVEL: 'warn' } },
    );
  });

  const fits: readonly [pattern: string, name: string, fits: boolean][] = [
    ['items.create', 'items.create', true],
    ['items.create', 'items.created', false],
    ['items.*', 'items.create', true],
    ['items.*', 'posts.items.create', false],
    ['*.items.*', 'posts.items.create', true],
    ['*.items.*', 'items.create', false],
    ['posts.**', 'posts.items.create', true],
    ['**', 'auth.login', true],
    ['*', 'auth.login', false],
    ['a+b.*', 'a+b.create', true],
    ['a+b.*', 'aab.create', false],
  ];
  for (const [pattern, name, expected] of fits) {
    it(`the pattern ${pattern} ${expected ? 'covers' : 'does not cover'} the event ${name}`, () => {
      expect(matchesEventPattern(pattern, name)).to.equal(expected);
    });
  }
});
