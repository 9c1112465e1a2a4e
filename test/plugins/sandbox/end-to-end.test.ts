import { expect } from 'chai';
import type { GuestProgram, Sandbox } from '../../../plugins/sandbox/contract.ts';
import { sandbox as service } from '../../../plugins/sandbox/contract.ts';
import { waitForCondition } from '../../sandbox/supervisor/supervisor-fixture.ts';
import { createCaller } from '../../support/caller.ts';
import { type TestPlugin, withBootedTestPlugins } from '../../support/test-plugins.ts';
import {
  createRealLauncherFactory,
  createTestInvocationRequest,
  getFailureCode,
  type SandboxFixture,
  type SandboxLauncherChild,
  withSandbox,
} from './sandbox-fixture.ts';

/** The source of a guest program whose handler has this body. */
const script = (body: string, before = ''): string =>
  `(function (module, exports) { ${before}; module.exports = { id: 'ext', handler: async (input, context) => { ${body} } }; })`;

const EVERYTHING = script(`
  const { host } = context;
  if (input.echo) return { body: input.echo };
  if (input.loop) for (;;);
  if (input.never) return new Promise(() => {});
  if (input.throw) throw new Error('an inner detail');
  if (input.bomb) { const all = []; for (;;) all.push('x'.repeat(1e6) + Math.random()); }
  if (input.sleep) { await new Promise((resolve) => setTimeout(resolve, input.sleep)); return { body: 'slept' }; }
  if (input.log) { host.log.info('a line', { of: 'the guest' }); return { body: null }; }
  if (input.render) return { body: await host.template.renderLiquid(input.render) };
  if (input.state) { globalThis.count = (globalThis.count ?? 0) + 1; return { body: globalThis.count }; }
`);

/** Runs `work` with the service `sandbox` on the real launcher and runner; `children` are the processes it has started. */
async function withReal(
  config: Record<string, string>,
  work: (ground: SandboxFixture, children: SandboxLauncherChild[]) => Promise<void>,
): Promise<void> {
  const children: SandboxLauncherChild[] = [];
  const launch = createRealLauncherFactory((child) => void children.push(child));
  await withSandbox(launch, config, async (ground) => {
    const { state, reason } = await ground.sandbox.runtime();
    expect(state, reason).to.equal('available');
    await work(ground, children);
  });
  await Promise.all(children.map(({ ended }) => ended));
}

const ask = async (guest: GuestProgram, input: unknown) =>
  (await guest.invoke(createTestInvocationRequest(input))).value;

describe('sandbox: real processes', function () {
  this.timeout(120_000);

  it('a program answers, keeps no state between calls, and fails with a code and without its own text', () =>
    withReal({}, async ({ sandbox, open }) => {
      expect(await sandbox.probe(EVERYTHING)).to.deep.equal([
        { key: '', id: 'ext', handler: true, filters: [], actions: [] },
      ]);
      expect(await getFailureCode(sandbox.probe('(function () { throw 1; })'))).to.equal('invalid-entry');
      const guest = open(EVERYTHING);
      expect(await ask(guest, { echo: { a: [1, 'é'] } })).to.deep.equal({ body: { a: [1, 'é'] } });
      expect([await ask(guest, { state: 1 }), await ask(guest, { state: 1 })]).to.deep.equal([
        { body: 1 },
        { body: 1 },
      ]);
      expect(await getFailureCode(guest.invoke(createTestInvocationRequest({ throw: 1 })))).to.equal('guest-error');
      const many = await Promise.all(Array.from({ length: 50 }, (_, echo) => ask(guest, { echo: echo + 1 })));
      expect(many).to.deep.equal(Array.from({ length: 50 }, (_, at) => ({ body: at + 1 })));
    }));

  it('host calls run under the grants of the package on behalf of the caller', () =>
    withReal({}, async ({ open, registerPackage, desk, log, ledger }) => {
      const fields = { user: 'ann', role: 'r', admin: false, app: true };
      const caller = createCaller(fields);
      const granted = open(EVERYTHING, { brokerAccess: registerPackage({ log: true, template: true }) });
      const { value } = await granted.invoke(createTestInvocationRequest({ render: 'text' }, { caller }));
      expect(value).to.deep.equal({ body: { ok: true, value: fields } });
      expect(desk.seen).to.have.length(1);
      const denied = await ask(open(EVERYTHING), { render: 'text' });
      expect((denied as { body: { error: { code: string } } }).body.error.code).to.equal('denied');
      expect(ledger().map(({ kind, what }) => [kind, what])).to.deep.equal([
        ['remote', 'template.renderLiquid'],
        ['denied', 'template.renderLiquid: not granted'],
      ]);
      await ask(granted, { log: 1 });
      await waitForCondition(() => log.some(({ msg, owner }) => msg === 'a line' && owner === 'ext'));
      expect(log.find(({ msg }) => msg === 'a line')).to.deep.include({ meta: { of: 'the guest' }, level: 30 });
    }));

  it('an endless loop is stopped, and the next call succeeds', () =>
    withReal({ EXTENSIONS_SANDBOX_TIMEOUT: '3s' }, async ({ open }) => {
      const guest = open(EVERYTHING);
      await ask(guest, { echo: 1 });
      for (const input of [{ loop: 1 }, { never: 1 }]) {
        const from = performance.now();
        // On a slow machine the wall-clock deadline is reached before the limit of CPU time.
        expect(await getFailureCode(guest.invoke(createTestInvocationRequest(input)))).to.be.oneOf([
          'cpu-limit',
          'timeout',
        ]);
        // The limits are 2 s of CPU time and 3 s of wall-clock time.
        expect(performance.now() - from).to.be.within(1900, 20_000);
        expect(await ask(guest, { echo: 2 })).to.deep.equal({ body: 2 });
      }
    }));

  it('an invocation that never settles does not end the process of its neighbours', () =>
    withReal({ EXTENSIONS_SANDBOX_TIMEOUT: '5s' }, async ({ open }, children) => {
      const guest = open(EVERYTHING);
      await ask(guest, { echo: 1 });
      const never = getFailureCode(guest.invoke(createTestInvocationRequest({ never: 1 })));
      await new Promise((resolve) => setTimeout(resolve, 2500));
      const slept = ask(guest, { sleep: 3500 });
      expect([await never, await slept]).to.deep.equal(['timeout', { body: 'slept' }]);
      await waitForCondition(() => children.length === 2);
    }));

  it('a memory bomb ends its own process only, and the program starts again', () =>
    withReal({}, async ({ open }) => {
      const bomber = open(EVERYTHING);
      const other = open(EVERYTHING);
      await Promise.all([ask(bomber, { echo: 1 }), ask(other, { echo: 1 })]);
      const bomb = getFailureCode(bomber.invoke(createTestInvocationRequest({ bomb: 1 })));
      expect(await ask(other, { echo: 2 })).to.deep.equal({ body: 2 });
      expect(await bomb).to.be.oneOf(['crash', 'timeout', 'guest-error', 'cpu-limit']);
      expect(await ask(other, { echo: 3 })).to.deep.equal({ body: 3 });
      expect(await ask(bomber, { echo: 4 })).to.deep.equal({ body: 4 });
    }));

  it('a program is parked after repeated crashes, and restart() starts it again', () =>
    withReal({}, async ({ open, parked }, children) => {
      const guest = open(EVERYTHING);
      /** Invokes until a call succeeds: `kill` ends the spare process too, so that for a while no process is available. */
      const answering = async () => {
        while ((await getFailureCode(guest.invoke(createTestInvocationRequest({ echo: 1 })))) !== 'none')
          await new Promise((resolve) => setTimeout(resolve, 20));
      };
      const kill = async () => {
        await answering();
        const answer = getFailureCode(guest.invoke(createTestInvocationRequest({ never: 1 })));
        for (const child of children) child.kill();
        return answer;
      };
      for (let crash = 0; crash < 5; crash++) {
        expect(await kill()).to.equal('crash');
        await waitForCondition(() => guest.state() !== 'waiting');
      }
      expect(guest.state()).to.equal('parked');
      await waitForCondition(() => parked.length > 0);
      expect(parked[0]?.code).to.equal('RUNTIME_CRASHED');
      guest.restart();
      await answering();
      expect(await ask(guest, { echo: 9 })).to.deep.equal({ body: 9 });
    }));

  it('the spare process serves the next program', () =>
    withReal({}, async ({ open }, children) => {
      const guest = open(EVERYTHING);
      await ask(guest, { echo: 1 });
      await waitForCondition(() => children.length === 2);
      const next = open(EVERYTHING);
      await ask(next, { echo: 1 });
      await next.close();
      // Closing a program ends its own process and no other.
      expect(await Promise.race(children.map((child) => child.ended.then(() => child)))).to.equal(children[1]);
    }));

  it('processes of the plugin end when the kernel stops', async () => {
    let used: Sandbox | undefined;
    const user: TestPlugin = {
      name: 'user',
      manifest: { uses: { sandbox: '^1.0.0' } },
      register: (host) => {
        used = host.use({ service }).service;
      },
    };
    let late: Promise<string> | undefined;
    await withBootedTestPlugins(
      [user],
      async ({ kernel }) => {
        await kernel.migrate();
        await kernel.start();
        expect(used?.state().state).to.equal('not-required');
        expect((await used?.runtime())?.posture?.decision).to.equal('run');
        expect(await used?.probe(EVERYTHING)).to.have.length(1);
        late = getFailureCode(used?.probe(script('', 'for (;;);')) as Promise<unknown>);
      },
      { product: ['sandbox'] },
    );
    expect(await late).to.be.oneOf(['crash', 'internal']);
    expect(await getFailureCode(used?.probe(EVERYTHING) as Promise<unknown>)).to.equal('internal');
  });
});
