import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Caller } from '#kernel';
import type { GuestProgram, Sandbox } from '../../../plugins/sandbox/contract.ts';
import { GuestFailure } from '../../../plugins/sandbox/library.ts';
import {
  createItemsCaller,
  type ItemsCapabilityFixture,
  ROLE_ID,
  startItemsCapability,
  USER_ID,
} from '../../plugins/items/capability/items-fixture.ts';
import { createRealLauncherFactory, createTestSandbox } from '../../plugins/sandbox/sandbox-fixture.ts';
import { type EventLoopWatch, watchEventLoop } from '../../support/event-loop.ts';
import { createForcedGarbageCollector } from '../../support/garbage-collector.ts';
import { waitForCondition } from '../supervisor/supervisor-fixture.ts';

const SQL = `
  create table articles (id serial primary key, title text);
  insert into articles (title) select 'article ' || n from generate_series(1, 50) n;
  insert into platform_roles (id, name) values ('${ROLE_ID}', 'Editor');
  insert into platform_users (id, email, role) values ('${USER_ID}', 'editor@example.com', '${ROLE_ID}');
  insert into platform_permissions (role, collection, action, permissions, fields) values
    ('${ROLE_ID}', 'articles', 'create', null, '*'), ('${ROLE_ID}', 'articles', 'read', null, '*');`;

/** The outcome of an invocation: its value, or the code of its failure. */
type Outcome = unknown;
type Expected = (outcome: Outcome) => void;
const ends: Expected = (outcome) =>
  expect(outcome).to.be.oneOf(['crash', 'timeout', 'cpu-limit', 'busy', 'invalid-result', 'guest-error']);
const is =
  (...outcomes: readonly unknown[]): Expected =>
  (outcome) =>
    expect(outcomes).to.deep.include(outcome);

/** Forged messages by name, each with the expected outcome of the invocation during which the child sends them. */
const FORGERIES: Readonly<Record<string, Expected>> = {
  'other ids': is('done'),
  'after it is over': is('done'),
  'after it was cancelled': is('timeout'),
  'ids that are none': is('crash'),
  'ids that are texts': is('crash'),
  'methods of others': (outcome) => {
    for (const code of outcome as string[]) expect(code).to.be.oneOf(['unsupported', 'denied']);
  },
  'methods that are none': is('crash'),
  'methods that are paths': is('crash'),
  'its own authority alone': is(['denied', 'denied', 'denied', 'denied', 'denied']),
  'arguments that are no JSON': is(Array(4).fill('invalid_request')),
  'arguments that are deep': is(Array(2).fill('invalid_request')),
  'arguments that are large': is(['invalid_request']),
  'prototypes and doubles': (outcome) => {
    for (const code of outcome as string[]) expect(code).to.be.oneOf(['invalid_request', 'denied']);
  },
  'results that are no JSON': is('invalid-result'),
  'results that are empty': is('invalid-result'),
  'results that are bytes': is('invalid-result'),
  'results that are deep': is('invalid-result'),
  'results that are too large': is('result-too-large'),
  'results that are numbers without end': () => {},
  'results with prototypes': () => {},
  'codes that are the host’s': is('crash'),
  'unexpected members': is('crash'),
  'members by prototype': is('crash'),
  'no frames': is('crash'),
  'bodies without end': is('crash'),
  'headers without end': is('crash'),
  'headers that are missing': is('crash'),
  'headers that are lists': is('crash'),
  'headers that are nothing': is('crash'),
  'headers that are deep': is('crash'),
  'headers that are bytes': is('crash'),
  'half a frame': is('timeout'),
  'a byte at a time': is('slow', 'timeout'),
  'a flood of lines': ends,
  'a flood of long lines': ends,
  'a flood of calls': ends,
  'a flood of messages without an invocation': ends,
  'a flood of pongs': ends,
  'a flood of large results': ends,
  'never reads again': ends,
  'hangs, and says it is well': is('timeout'),
  'hangs for good': is('timeout', 'cpu-limit'),
  exits: is('crash'),
  'closes the socket': is('crash'),
  'hello twice': is('crash'),
  'loaded twice': is('crash'),
  'refused after loaded': is('crash'),
  'messages of the host': is('crash'),
  'loads for ever': ends,
  'a contract of thousands': ends,
  'a contract of other things': ends,
  'calls while it is loaded': is('done'),
  'a result before it is loaded': ends,
};

const WALL = 3000;
/** Longest block of the host's event loop in ms, without waiting for a core. */
const LONGEST_PAUSE = 400;
/** Milliseconds within which an invocation ends on a busy machine. */
const SLOW = 30_000;
/** Bytes that may stay allocated after a forgery, once the connection to its process is closed. */
const MOST_HELD = 32 * 1024 * 1024;
/**
 * Bytes by which the test process may grow during a forgery, garbage included. Messages that it queues without a limit
 * would be gigabytes at the deadline.
 */
const MOST_MEMORY = 384 * 1024 * 1024;
const collect = createForcedGarbageCollector();
function bytesInUse(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
/** Whether few bytes stay allocated after a forgery. Collects garbage only where it has to. */
function areFewHeld(before: number): boolean {
  if (bytesInUse() - before < MOST_HELD) return true;
  collect();
  return bytesInUse() - before < MOST_HELD;
}
const publicCaller: Caller = createItemsCaller({ user: null, role: null });

describe('sandbox: a child process that sends forged messages', function () {
  this.timeout(120_000);
  let service: ItemsCapabilityFixture;
  let sandbox: Sandbox;
  let stop: (() => Promise<void>) | undefined;
  let honest: GuestProgram;
  let memory: number;
  let held: number;
  let loop: EventLoopWatch;
  const pids: number[] = [];

  before(async () => {
    const text = await readFile(new URL('forged/program.cjs', import.meta.url), 'utf8');
    service = await startItemsCapability(SQL);
    const launch = createRealLauncherFactory(({ pid }) => void pids.push(pid), text);
    ({ sandbox, stop } = createTestSandbox(launch, {
      EXTENSIONS_SANDBOX_TIMEOUT: String(WALL),
      EXTENSIONS_SANDBOX_MAX_PROCESSES: '4',
    }));
    expect((await sandbox.runtime()).state).to.equal('available');
    honest = open('honest');
    expect(await outcomeOf(honest, 'first')).to.equal('first');
    collect();
    held = bytesInUse();
    memory = process.memoryUsage.rss();
    loop = watchEventLoop();
  });
  after(async () => {
    loop?.stop();
    await stop?.();
    await service?.stop();
  });

  const open = (script: string): GuestProgram =>
    sandbox.open({
      brokerAccess: service.subjects.register({
        name: `forged-${script.replace(/\W+/g, '-')}`,
        version: '1.0.0',
        runtime: 'confined',
        grants: { items: { accountability: 'user' }, log: true },
      }),
      script,
      reuse: false,
      onParked: () => {},
    });
  const outcomeOf = async (
    guest: GuestProgram,
    input: unknown = 1,
    who: Caller | null = publicCaller,
  ): Promise<Outcome> => {
    try {
      const run = { entry: '', contributionId: 'forged', activation: { type: 'json-endpoint' }, caller: who } as const;
      return (await guest.invoke({ ...run, input: JSON.stringify(input) })).value;
    } catch (error) {
      if (error instanceof GuestFailure) return error.code;
      throw error;
    }
  };
  const rows = async () =>
    (
      await service.database.query<{ n: string }>(
        `select (select count(*) from articles) || ' ' || (select count(*) from articles where title ~ 'forged') || ' '
          || (select count(*) from platform_users) n`,
      )
    )[0]?.n;

  it('the table holds at least forty forgeries', () => {
    expect(Object.keys(FORGERIES).length).to.be.at.least(40);
  });

  for (const [name, expected] of Object.entries(FORGERIES)) {
    it(`the host withstands a forged child: ${name}`, async () => {
      const guest = open(name);
      try {
        loop.reset();
        const since = performance.now();
        const outcome = await outcomeOf(guest);
        expected(outcome);
        // The limit is generous, since the invocation may have had to wait for the start of its process.
        expect(performance.now() - since).to.be.below(SLOW);
        expect(loop.longest(), 'the host stood still').to.be.below(LONGEST_PAUSE);
        expect(await outcomeOf(honest, name), 'another program').to.equal(name);
      } finally {
        await guest.close();
      }
      expect(await rows()).to.match(/^50 0 /);
      expect({}).not.to.have.any.keys('polluted', 'forged', 'limit');
      expect(process.memoryUsage.rss() - memory, 'memory').to.be.below(MOST_MEMORY);
      await waitForCondition(() => areFewHeld(held), `less than ${MOST_HELD} bytes are held`);
    });
  }

  it('a forged child has the authority of its own callers alone, whatever ids it sends', async () => {
    const [waiting, forging] = [open('waits'), open('an id of another program')];
    try {
      // Invokes until the process of the forging child is started. Ids of invocations start at one in each process.
      for (let at = 0; at < 3 && (await outcomeOf(forging)) !== 'denied'; at++);
      const rich = Promise.all(Array.from({ length: 5 }, () => outcomeOf(waiting, 1, createItemsCaller())));
      expect(await outcomeOf(forging)).to.equal('denied');
      // The child of `waits` confirms no message, so later invocations stay queued in the host.
      for (const outcome of await rich) expect(outcome).to.be.oneOf(['timeout', 'busy']);
      expect(await outcomeOf(forging, 1, createItemsCaller())).to.equal('ok');
      expect(await rows()).to.match(/^51 1 /);
      await service.database.query(`delete from articles where title = 'forged'`);
    } finally {
      await Promise.all([waiting.close(), forging.close()]);
    }
  });

  it('several forged children at once neither exceed deadlines nor block other programs', async () => {
    const guests = ['a flood of calls', 'never reads again', 'hangs for good'].map(open);
    try {
      const since = performance.now();
      const all = Promise.all(
        guests.flatMap((guest) => Array.from({ length: 70 }, () => outcomeOf(guest, 'x'.repeat(100_000)))),
      );
      expect(await outcomeOf(honest, 'meanwhile')).to.equal('meanwhile');
      for (const outcome of await all) expect(outcome).to.be.oneOf(['busy', 'crash', 'timeout']);
      expect(performance.now() - since).to.be.below(SLOW);
      expect(await rows()).to.match(/^50 0 /);
    } finally {
      await Promise.all(guests.map((guest) => guest.close()));
    }
    expect(process.memoryUsage.rss() - memory, 'memory').to.be.below(2 * MOST_MEMORY);
    await waitForCondition(() => areFewHeld(held), `less than ${MOST_HELD} bytes are held`);
  });

  it('forged children leave no process behind', async () => {
    await stop?.();
    stop = undefined;
    const left = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)));
    expect(left.filter((one) => one !== undefined)).to.deep.equal([]);
    expect(pids.length).to.be.at.least(40);
  });
});
