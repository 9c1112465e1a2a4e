import { expect } from 'chai';
import { authorities, capabilities, type EventsApi, fail, type GrantHolder, isSystem } from '#kernel';
import {
  broker,
  type ConfinedCodeInvocation,
  type PackageGrantBroker,
  type PackageHandle,
  type PackageWithGrants,
  remoteMethods,
} from '../../../plugins/broker/contract.ts';
import { BrokerRefusal, InvocationSecrets, renderAudit, withAuditSentences } from '../../../plugins/broker/library.ts';
import { PackageLogBudget } from '../../../plugins/broker/package-log-budget.ts';
import { publicCaller } from '../../support/caller.ts';
import { type BootedKernel, captureError, type TestPlugin, withBootedTestPlugins } from '../../support/test-plugins.ts';

interface Shelf {
  readonly books: readonly string[];
  readonly subject: GrantHolder;
}

/** A plugin that defines the capability `shelf`, whose method `take` ends in every possible way, depending on its argument. */
const shelf: TestPlugin = {
  name: 'shelf',
  manifest: { contributes: { capabilities: { names: ['shelf'] }, 'broker.methods': {} } },
  register(host) {
    host.contribute(capabilities, {
      name: 'shelf',
      member: 'shelf',
      schema: { type: 'object', required: ['books'], properties: { books: { type: 'array' } } },
      bind: (grant: { books: string[] }, subject: GrantHolder): Shelf => ({ ...grant, subject }),
      describe: ({ books }: { books: string[] }) => authorities('provides', books, 'on loan'),
      widens: (before: { books: string[] } | undefined, after: { books: string[] }) =>
        after.books.length > (before?.books.length ?? 0),
    });
    host.contribute(remoteMethods, {
      capability: 'shelf',
      methods: {
        take: {
          args: { type: 'array', minItems: 1, maxItems: 1, items: { type: 'string' } },
          target: (book: string) => book,
          maxReply: 12,
          call({ books, subject }: Shelf, { id }, book: string) {
            if (book === 'forbidden') throw fail('FORBIDDEN', 'a reason for the log');
            if (book === 'wrong') throw fail('INVALID_PAYLOAD', 'Not a book.');
            if (book === 'broken') throw new Error('secret detail');
            if (book === 'gone') throw new BrokerRefusal('not_found', 'No such book.');
            if (book === 'mine') return isSystem(subject.asSystem('a test'));
            return books.includes(book) ? `${book} by ${id}` : null;
          },
        },
      },
    });
  },
};

const grants = { shelf: { books: ['one'] }, log: true, events: { filter: ['a.b'] } };

async function withBroker<T>(work: (subjects: PackageGrantBroker, booted: BootedKernel) => Promise<T> | T): Promise<T> {
  let subjects: PackageGrantBroker | undefined;
  const keeper: TestPlugin = {
    name: 'keeper',
    manifest: { uses: { broker: '^1.0.0' } },
    register: (host) => {
      subjects = host.use({ broker }).broker;
    },
  };
  return withBootedTestPlugins([shelf, keeper], (booted) => work(subjects as PackageGrantBroker, booted), {
    environment: { LOG_LEVEL: 'debug', HIDDEN_VALUE: 'not for clients' },
    product: ['broker'],
  });
}

const guest = (more: Partial<PackageWithGrants> = {}): PackageWithGrants => ({
  name: 'guest',
  version: '1.2.3',
  runtime: 'confined',
  grants,
  ...more,
});

const invocation = (): ConfinedCodeInvocation => ({
  id: 'run-1',
  caller: publicCaller(),
  signal: new AbortController().signal,
  secrets: new InvocationSecrets(),
});

const refusal = (handle: PackageHandle, method: string, args: unknown = []) =>
  captureError<BrokerRefusal>(handle.call(method, args, invocation()));

describe('PackageHandle of the broker', () => {
  it('call() runs a method of a granted capability', async () => {
    await withBroker(async (subjects) => {
      expect(await subjects.register(guest()).call('shelf.take', ['one'], invocation())).to.equal('one by run-1');
    });
  });

  const refused: readonly [what: string, method: string, args: unknown, code: string][] = [
    ['an unknown capability', 'sky.take', [], 'unsupported'],
    ['an unknown method', 'shelf.burn', [], 'unsupported'],
    ['a member of every object', 'shelf.constructor', [], 'unsupported'],
    ['a capability without methods', 'native.load', [], 'unsupported'],
    ['arguments of another shape', 'shelf.take', [1], 'invalid_request'],
    ['too many arguments', 'shelf.take', ['one', 'two'], 'invalid_request'],
    ['arguments that are no list', 'shelf.take', { 0: 'one' }, 'invalid_request'],
    ['what is forbidden', 'shelf.take', ['forbidden'], 'denied'],
    ['what makes no sense', 'shelf.take', ['wrong'], 'invalid_request'],
    ['what fails', 'shelf.take', ['broken'], 'internal'],
    ['what the method itself refuses', 'shelf.take', ['gone'], 'not_found'],
  ];
  for (const [what, method, args, code] of refused) {
    it(`call() refuses ${what} as ${code}`, async () => {
      await withBroker(async (subjects) => {
        const error = await refusal(subjects.register(guest()), method, args);
        expect(error).to.be.instanceOf(BrokerRefusal);
        expect(error.code).to.equal(code);
        expect(error.message).not.to.match(/secret detail|reason for the log/);
      });
    });
  }

  it('get() and call() deny capabilities that are not granted, or granted as false', async () => {
    await withBroker(async (subjects, { kernel }) => {
      for (const grants of [{}, { shelf: false }]) {
        const handle = subjects.register(guest({ grants }));
        expect((await refusal(handle, 'shelf.take', ['one'])).code).to.equal('denied');
        expect((await captureError(() => handle.get('shelf'))).code).to.equal('CAPABILITY_DENIED');
        handle.remove();
      }
      expect(kernel.ledger.entries().map(({ kind, what, count }) => `${kind} ${what} ${count}`)).to.deep.equal([
        'denied shelf.take: not granted 2',
        'denied shelf: not granted 2',
      ]);
    });
  });

  it('the ledger counts each call with its target, and system calls under the name of the package', async () => {
    await withBroker(async (subjects, { kernel }) => {
      const handle = subjects.register(guest());
      for (const book of ['one', 'one', 'forbidden', 'mine']) {
        await handle.call('shelf.take', [book], invocation()).catch(() => {});
      }
      expect(kernel.ledger.entries().map(({ kind, plugin, what, count }) => [kind, plugin, what, count])).to.deep.equal(
        [
          ['remote', 'guest', 'shelf.take one', 2],
          ['denied', 'guest', 'shelf.take forbidden', 1],
          ['remote', 'guest', 'shelf.take mine', 1],
          ['system', 'guest@1.2.3', 'a test', 1],
        ],
      );
    });
  });

  it('a package pushes only its own entries out of a full ledger', async () => {
    await withBroker(async (subjects, { kernel }) => {
      subjects.register(guest({ name: 'quiet' })).recordDenial('once');
      const loud = subjects.register(guest());
      for (let at = 0; at < 2000; at++) loud.recordDenial(`number ${at}`);
      const entries = kernel.ledger.entries();
      expect(entries.some((one) => one.plugin === 'quiet')).to.equal(true);
      expect(entries.length).to.be.below(1000);
    });
  });

  it('a package is in the audit until remove()', async () => {
    await withBroker((subjects, { kernel }) => {
      const handle = subjects.register(guest({ authorities: [{ verb: 'serves', object: '/guest' }] }));
      expect(renderAudit(kernel.audit())).to.match(/guest +confined {2}serves \/guest\n.*provides one \(on loan\)/s);
      expect(subjects.account().may).to.deep.equal(withAuditSentences(kernel.audit()));
      handle.remove();
      expect(renderAudit(kernel.audit())).not.to.contain('guest');
    });
  });

  it('remove() unsubscribes the listeners of the package', async () => {
    await withBroker(async (subjects) => {
      const handle = subjects.register(guest());
      const events = handle.get<EventsApi>('events');
      events.onFilter('a.b', () => 'changed');
      expect(events.hasListeners('filter', 'a.b')).to.equal(true);
      expect((await captureError(() => events.onFilter('c.d', () => {}))).code).to.equal('CAPABILITY_DENIED');
      handle.remove();
      expect(events.hasListeners('filter', 'a.b')).to.equal(false);
    });
  });

  it('remove() keeps the listeners of a plugin with the same name', async () => {
    const core: TestPlugin = {
      name: 'guest',
      manifest: { capabilities: { events: { filter: ['a.b'] } } },
      register: (host) => void host.events.onFilter('a.b', () => {}),
    };
    let subjects: PackageGrantBroker | undefined;
    const keeper: TestPlugin = {
      name: 'keeper',
      manifest: { uses: { broker: '^1.0.0' }, capabilities: { events: {} } },
      register: (host) => {
        subjects = host.use({ broker }).broker;
      },
    };
    await withBootedTestPlugins(
      [shelf, core, keeper],
      ({ kernel }) => {
        const handle = (subjects as PackageGrantBroker).register(guest());
        handle.get<EventsApi>('events').onFilter('a.b', () => {});
        expect(kernel.countOf('guest').listeners).to.equal(2);
        handle.remove();
        expect(kernel.countOf('guest').listeners).to.equal(1);
      },
      { product: ['broker'] },
    );
  });

  it('a package with full authority may listen to any event', async () => {
    await withBroker((subjects) => {
      const handle = subjects.register(guest({ runtime: 'full', grants: { events: {} } }));
      const events = handle.get<Parameters<TestPlugin['register'] & {}>[0]['events']>('events');
      events.onAction('c.d', () => {});
      expect(events.hasListeners('action', 'c.d')).to.equal(true);
    });
  });

  it('the broker checks, describes and compares grants', async () => {
    await withBroker((subjects) => {
      expect(subjects.findProblems(grants)).to.deep.equal([]);
      expect(subjects.findProblems({ shelf: {}, sky: true }).join()).to.match(/books.*sky is not a known capability/);
      expect(subjects.describe({ ...grants, log: false }))
        .to.include('provides one (on loan)')
        .and.not.include('logs');
      expect(subjects.widens(grants, grants)).to.equal(false);
      expect(subjects.widens(grants, { ...grants, shelf: { books: ['one', 'two'] } })).to.equal(true);
      expect(subjects.widens({ log: false }, { log: true })).to.equal(true);
      expect(subjects.widens(grants, { log: false })).to.equal(false);
    });
  });

  it('redact() replaces values of the environment', async () => {
    await withBroker((subjects) => {
      expect(subjects.redact('it is not for clients, or so')).to.equal('it is <redacted>, or so');
    });
  });

  it('host.log of confined code writes under the name of the package, without its secrets', async () => {
    await withBroker(async (subjects, { log }) => {
      const run = invocation();
      const { ref } = run.secrets.conceal('the secret');
      await subjects.register(guest()).call('log.warn', [`the secret is ${ref}`, { deep: ['the secret'] }], run);
      const line = log.find((one) => one.owner === 'guest');
      expect(line).to.deep.include({ level: 40, invocation: 'run-1', msg: '--redact-- is --redact--' });
      expect(line?.meta).to.deep.equal({ deep: ['--redact--'] });
    });
  });
});

describe('host.log of confined code', () => {
  const linesOf = async (secret: string, ...args: unknown[]) =>
    withBroker(async (subjects, { log }) => {
      const run = invocation();
      run.secrets.conceal(secret);
      await subjects.register(guest()).call('log.warn', args, run);
      return log.filter(({ owner }) => owner === 'guest');
    });

  it('an entry contains no secret in any encoding, and keeps its JSON types when a secret is short', async () => {
    const [line] = await linesOf('pa"ss\\\n', 'decisions pa"ss\\\n', { a: ['pa"ss\\\n'], 'pa"ss\\\n': 1 });
    expect(line).to.deep.include({ msg: 'decisions --redact--', meta: { a: ['--redact--'], '--redact--': 1 } });
    const [other] = await linesOf('"', 'x', { a: ['say "b"'], n: 12 });
    expect(other?.meta).to.deep.equal({ a: ['say --redact--b--redact--'], n: 12 });
    const [number] = await linesOf('12', { at: 12 }, 3120);
    expect(number).to.deep.include({ msg: '{"at":"--redact--"}', meta: '3--redact--0' });
  });

  it('an entry is truncated to its maximum length, its data included', async () => {
    const [line] = await linesOf('unused', 'x'.repeat(200_000), { big: 'y'.repeat(200_000) });
    expect(JSON.stringify(line).length).to.be.below(25_000);
    expect(line?.meta)
      .to.be.a('string')
      .and.match(/^\{"big":"y+…$/);
  });
});

describe('LineBudget', () => {
  it('allows a burst, then a number of bytes per second', () => {
    let now = 0;
    const budget = new PackageLogBudget(() => now);
    const write = (times: number) => Array.from({ length: times }, () => budget.spend(9_800));
    const decisions = write(200);
    expect(decisions.filter((one) => one === 'write')).to.have.length(104);
    expect(decisions.filter((one) => one === 'first')).to.have.length(1);
    now += 1000;
    expect(write(200).filter((one) => one === 'write')).to.have.length(13);
  });
});

describe('InvocationSecrets', () => {
  it('conceal() returns the same reference for the same value', () => {
    const secrets = new InvocationSecrets();
    const refs = new Set(Array.from({ length: 1000 }, () => secrets.conceal('value').ref));
    expect(refs.size).to.equal(1);
    expect(secrets.conceal('other').ref).not.to.equal([...refs][0]);
  });

  it('reveal() ignores references of other invocations', () => {
    const [mine, other] = [new InvocationSecrets(), new InvocationSecrets()];
    const reference = mine.conceal('value');
    expect(mine.reveal(reference)).to.equal('value');
    expect(mine.reveal({ ...reference })).to.equal('value');
    expect(other.reveal(reference)).to.equal(undefined);
    for (const odd of [null, 'x', { ref: reference.ref }, { kind: 'secret-reference', ref: 1 }]) {
      expect(mine.reveal(odd)).to.equal(undefined);
    }
    expect(mine.mentionedIn(JSON.stringify({ a: [reference] }))).to.equal(true);
    expect(other.mentionedIn(JSON.stringify(reference))).to.equal(false);
  });
});
