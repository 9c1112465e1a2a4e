import { expect } from 'chai';
import { requestScope } from '#kernel';
import { HOST_CALL_LIMITS } from '../../../plugins/sandbox/host-call-dispatcher.ts';
import {
  createFakeLauncher,
  echoBehaviour,
  type FakeChildBehaviour,
  type FakeLauncher,
} from '../../sandbox/supervisor/fake-launcher.ts';
import { waitForCondition } from '../../sandbox/supervisor/supervisor-fixture.ts';
import { createCaller } from '../../support/caller.ts';
import { createTestInvocationRequest, type SandboxFixture, withSandbox } from './sandbox-fixture.ts';

type Called = readonly [method: string, args: unknown, call?: number];

/** A fake guest program that makes the host calls listed in its input and returns the replies in their order. */
function caller(): FakeChildBehaviour {
  const runs = new Map<number, { replies: unknown[]; left: number }>();
  return (child, message, body) => {
    if (message.type === 'invoke') {
      const calls = JSON.parse(body) as Called[];
      runs.set(message.id, { replies: [], left: calls.filter(([, , call]) => call !== 0).length });
      calls.forEach(([method, args, call], at) => {
        const text = typeof args === 'string' ? args : JSON.stringify(args);
        child.send({ type: 'call', id: message.id, call: call ?? at + 1, method }, text);
      });
      if (runs.get(message.id)?.left === 0) child.send({ type: 'result', id: message.id }, '[]');
    } else if (message.type === 'reply') {
      const run = runs.get(message.id);
      if (!run) return;
      run.replies[message.call - 1] = [message.ok, JSON.parse(body)];
      if (--run.left === 0) child.send({ type: 'result', id: message.id }, JSON.stringify(run.replies));
    } else echoBehaviour(child, message, body);
  };
}

type Reply = [ok: boolean, value: unknown];

describe('sandbox: calls of the host', () => {
  let launcher: FakeLauncher;
  const withCalls = (work: (fixture: SandboxFixture) => Promise<void>, config = {}) => {
    launcher = createFakeLauncher({ calls: caller() });
    return withSandbox(async () => launcher, config, work);
  };
  const replies = async ({ open }: SandboxFixture, calls: readonly Called[]): Promise<Reply[]> =>
    (await open('calls').invoke(createTestInvocationRequest(calls))).value as Reply[];
  const codes = async (fixture: SandboxFixture, calls: readonly Called[]) =>
    (await replies(fixture, calls)).map(([ok, value]) => (ok ? value : (value as { code: string }).code));

  it('host calls run under the grants of the package and appear in the ledger', () =>
    withCalls(async (fixture) => {
      expect(
        await replies(fixture, [
          ['desk.echo', [{ a: [1] }]],
          ['desk.echo', []],
        ]),
      ).to.deep.equal([
        [true, { a: [1] }],
        [true, null],
      ]);
      expect(fixture.ledger().map(({ kind, plugin, what, count }) => [kind, plugin, what, count])).to.deep.equal([
        ['remote', 'ext', 'desk.echo', 2],
      ]);
    }));

  it('a failed host call is answered with a code and no internal detail', () =>
    withCalls(async (fixture) => {
      const answers = await replies(fixture, [
        ['desk.refuse', []],
        ['desk.forbid', []],
        ['desk.break', []],
        ['desk.nothing', []],
        ['desk.text', [1]],
        ['desk.circle', []],
      ]);
      expect(answers).to.deep.equal([
        [false, { code: 'not_found', message: 'There is none.', details: { of: 'what' } }],
        [false, { code: 'denied', message: 'Not allowed.' }],
        [false, { code: 'internal', message: 'The call failed.' }],
        [false, { code: 'unsupported', message: 'The host has no such method.' }],
        [false, { code: 'invalid_request', message: 'The arguments do not fit: /0 must be string.' }],
        [false, { code: 'internal', message: 'The call failed.' }],
      ]);
      const line = fixture.log.find(({ method }) => method === 'desk.break') as Record<string, unknown>;
      expect(line).to.include({ owner: 'ext', level: 50 });
      expect(JSON.stringify(line.err)).to.contain('an inner detail');
    }));

  it('host calls without a grant are denied', () =>
    withCalls(async ({ open, registerPackage, ledger }) => {
      const guest = open('calls', { brokerAccess: registerPackage({}) });
      const { value } = await guest.invoke(createTestInvocationRequest([['desk.echo', []]]));
      expect((value as Reply[])[0]).to.deep.equal([
        false,
        { code: 'denied', message: 'The capability "desk" is not granted.' },
      ]);
      expect(ledger().map(({ kind, what }) => [kind, what])).to.deep.equal([['denied', 'desk.echo: not granted']]);
    }));

  it('host calls whose arguments are no list, too long or nested too deeply are refused', () =>
    withCalls(
      async (fixture) => {
        expect(
          await codes(fixture, [
            ['desk.echo', '{"a":1}'],
            ['desk.echo', '[1'],
            ['desk.echo', ['x'.repeat(1024)]],
            ['desk.echo', `${'['.repeat(5000)}${']'.repeat(5000)}`],
            ['desk.echo', ['x'.repeat(1000)]],
          ]),
        ).to.deep.equal(['invalid_request', 'invalid_request', 'invalid_request', 'invalid_request', 'x'.repeat(1000)]);
      },
      { EXTENSIONS_SANDBOX_MAX_HOST_API_CALL: '1kb' },
    ));

  it('a host call is refused when its answer exceeds the limit of its method or of all methods', () =>
    withCalls(
      async (fixture) => {
        const [short, long, fits] = await codes(fixture, [
          ['desk.short', []],
          ['desk.long', [HOST_CALL_LIMITS.reply]],
          ['desk.long', [HOST_CALL_LIMITS.reply - 2]],
        ]);
        expect([short, long]).to.deep.equal(['invalid_request', 'invalid_request']);
        expect((fits as string).length).to.equal(HOST_CALL_LIMITS.reply - 2);
      },
      { EXTENSIONS_SANDBOX_MAX_RESULT: '16mb' },
    ));

  it('host calls are limited in number at a time and in total', () =>
    withCalls(async (fixture) => {
      const waiting = Array.from({ length: 20 }, (): Called => ['desk.wait', []]);
      const answer = codes(fixture, waiting);
      await waitForCondition(() => fixture.desk.working === HOST_CALL_LIMITS.inFlight);
      fixture.desk.release();
      expect(await answer).to.deep.equal([...Array(16).fill('waited'), ...Array(4).fill('rate_limited')]);
      // Calls with an invalid argument list count towards the total although they are not executed.
      const many = await codes(fixture, Array(HOST_CALL_LIMITS.total + 5).fill(['desk.echo', '7']));
      expect(many.slice(0, HOST_CALL_LIMITS.total).every((code) => code === 'invalid_request')).to.equal(true);
      expect(many.slice(HOST_CALL_LIMITS.total)).to.deep.equal(Array(5).fill('rate_limited'));
    }));

  it('a host call times out after five seconds while its work still counts as in flight', () =>
    withCalls(async (fixture) => {
      const from = performance.now();
      expect(await codes(fixture, [['desk.wait', []]])).to.deep.equal(['timeout']);
      expect(performance.now() - from).to.be.at.least(4900);
      expect([fixture.desk.working, fixture.desk.aborted]).to.deep.equal([1, 1]);
    })).timeout(120_000);

  it('a host call carries its caller, invocation and request', () =>
    withCalls(async ({ open, desk }) => {
      const guest = open('calls');
      const users = ['ann', 'ben'];
      const answers = await Promise.all(
        users.map((user) =>
          requestScope.run({ id: `request of ${user}` }, () =>
            guest.invoke(
              createTestInvocationRequest([['desk.look', []]], {
                caller: createCaller({ user, role: 'r', app: true, ip: '1.2.3.4' }),
              }),
            ),
          ),
        ),
      );
      expect(answers.map(({ value }) => (value as [[boolean, { user: string }]])[0][1].user)).to.deep.equal(users);
      expect(desk.seen.map(({ scope }) => scope)).to.deep.equal(users.map((user) => `request of ${user}`));
      expect(new Set(desk.seen.map(({ invocation }) => invocation.id)).size).to.equal(2);
      await guest.invoke(createTestInvocationRequest([['desk.look', []]]));
      const last = desk.seen[2];
      expect(last?.invocation.caller).to.equal(null);
      // Without a request the invocation itself is the request scope.
      expect(last?.scope).to.equal(last?.invocation.id);
      const invoked = launcher.children.flatMap(({ received }) => received.filter(({ type }) => type === 'invoke'));
      expect(invoked.map((message) => 'context' in message && message.context)).to.deep.equal([
        ...users.map((user) => ({
          extensionId: 'ext',
          contributionId: 'ext',
          activation: { type: 'json-endpoint' },
          accountability: { user, role: 'r', admin: false },
        })),
        { extensionId: 'ext', contributionId: 'ext', activation: { type: 'json-endpoint' }, accountability: null },
      ]);
    }));

  it('the end of an invocation aborts its host calls and drops late answers', () =>
    withCalls(async ({ open, desk }) => {
      const guest = open('calls');
      const gone = new AbortController();
      const answer = guest
        .invoke(createTestInvocationRequest([['desk.wait', []]], { signal: gone.signal }))
        .catch(({ code }) => code);
      await waitForCondition(() => desk.working === 1);
      gone.abort();
      expect(await answer).to.equal('timeout');
      expect(desk.aborted).to.equal(1);
      desk.release();
      await waitForCondition(() => desk.working === 0);
      const got = launcher.children.flatMap(({ received }) => received.map(({ type }) => type));
      expect(got).to.include('cancel').and.not.include('reply');
    }, {}));

  it('log calls need no answer up to a limit, and other calls without reply are refused', () =>
    withCalls(async (fixture) => {
      const { log, open } = fixture;
      const { value } = await open('calls').invoke(
        createTestInvocationRequest([
          ['log.info', ['hello', { a: 1 }], 0],
          ['desk.look', [], 0],
          ['log.warn', '"no list"', 0],
        ]),
      );
      expect(value).to.deep.equal([]);
      const lines = () => log.filter(({ owner }) => owner === 'ext');
      expect(lines()).to.have.length(1);
      expect(lines()[0]).to.deep.include({ msg: 'hello', meta: { a: 1 }, level: 30 });
      expect(fixture.desk.seen).to.deep.equal([]);
      const flood = Array.from(
        { length: HOST_CALL_LIMITS.logs + 50 },
        (_, at): Called => ['log.info', [`line ${at}`], 0],
      );
      await open('calls').invoke(createTestInvocationRequest(flood));
      expect(lines().filter(({ msg }) => String(msg).startsWith('line'))).to.have.length(HOST_CALL_LIMITS.logs);
      expect(lines().filter(({ msg }) => /dropped/.test(String(msg)))).to.have.length(1);
    }));

  it('host calls see the secrets of their own invocation alone', () =>
    withCalls(async ({ open, desk }) => {
      const guest = open('calls');
      await guest.invoke(
        createTestInvocationRequest(null, {
          prepare: ({ secrets }) => {
            secrets.conceal('hunter2-hunter2');
            return JSON.stringify([['desk.look', []]]);
          },
        }),
      );
      await guest.invoke(createTestInvocationRequest([['desk.look', []]]));
      const scrubbed = desk.seen.map(({ invocation }) => invocation.secrets.scrub('hunter2-hunter2'));
      expect(scrubbed).to.deep.equal(['--redact--', 'hunter2-hunter2']);
    }));
});
