import { expect } from 'chai';
import type { Caller } from '#kernel';
import {
  type AnyHost,
  type ReceivedEventMeta,
  runRefusedAttempt,
  serviceWithCaller,
} from './cheating-plugin-fixture.ts';

const ADMIN = { user: null, role: null, admin: true, app: true };
const USES = { uses: { bank: '^1.0.0' }, capabilities: { events: { action: ['**'], emit: ['cheat.*'] } } };

/** A caller that the kernel created for the core plugin, and that the third-party plugin has got hold of. */
const genuine = (core: AnyHost): Caller =>
  core.identity.mint('user', { ...ADMIN, user: 'ann', admin: false, app: false });

type Forge = (caller: Caller) => unknown;

const FORGERIES: Readonly<Record<string, Forge>> = {
  'a plain object with admin rights': () => ADMIN,
  'a frozen object with a reason': () => Object.freeze({ ...ADMIN, reason: 'because', owner: 'core@1.0.0' }),
  'a copy of a genuine caller with more rights': (caller) => ({ ...caller, admin: true }),
  'an exact copy of a genuine caller': (caller) => ({ ...caller }),
  'a structured clone of a genuine caller': (caller) => structuredClone({ ...caller }),
  'an object that inherits from a genuine caller': (caller) => Object.create(caller, { admin: { value: true } }),
  'an object with the prototype of callers': (caller) =>
    Object.setPrototypeOf({ ...ADMIN }, Object.getPrototypeOf(caller)),
  'a proxy around a genuine caller': (caller) =>
    new Proxy(caller, { get: (target, key) => (key === 'admin' ? true : Reflect.get(target, key)) }),
  'nothing at all': () => undefined,
  'a function that answers as a caller': () => Object.assign(() => {}, ADMIN),
};

describe('a third-party plugin that forges a caller', () => {
  for (const [what, forge] of Object.entries(FORGERIES)) {
    it(`a service denies a third-party plugin ${what}`, async () => {
      const { message, denied } = await runRefusedAttempt({
        manifest: USES,
        later: (own, core) => own.use({ bank: serviceWithCaller }).bank.balance(forge(genuine(core)) as Caller),
      });
      expect(message).to.match(/cheat may not call bank\.balance with a caller that the kernel did not mint/);
      expect(denied.map(({ what: line }) => line).join()).to.contain('bank.balance');
    });
  }

  it('host.events denies a forged caller in the meta of an event', async () => {
    const { message, denied } = await runRefusedAttempt({
      manifest: USES,
      later: (own) => own.events.action(['cheat.done'], { caller: ADMIN as Caller }),
    });
    expect(message).to.match(/cheat may not emit cheat\.done with a caller that the kernel did not mint/);
    expect(denied).to.have.length(1);
  });

  it('the class of a genuine caller constructs no further caller', async () => {
    for (const build of [
      (caller: Caller) => new (caller.constructor as new (...args: unknown[]) => unknown)(ADMIN),
      (caller: Caller) => Reflect.construct(caller.constructor, [Symbol('mint'), ADMIN]),
      (caller: Caller) => {
        const Base = caller.constructor as unknown as new (...args: unknown[]) => object;
        return new (class extends Base {})(ADMIN);
      },
    ]) {
      const { message, denied } = await runRefusedAttempt({
        manifest: USES,
        later: (_own, core) => void build(genuine(core)),
      });
      expect(message).to.equal('no code may construct a caller, which only the kernel mints');
      expect(denied.map(({ plugin, what }) => [plugin, what.includes('construct a caller')])).to.deep.equal([
        ['unknown code', true],
      ]);
    }
  });

  it('a genuine caller is immutable', async () => {
    const { message } = await runRefusedAttempt({
      manifest: USES,
      later: (_own, core) => void Object.assign(genuine(core), { admin: true }),
    });
    expect(message).to.match(/read only|not extensible/);
  });

  it('a copy of a service key without callers does not bypass the check', async () => {
    const { message } = await runRefusedAttempt({
      manifest: USES,
      later: (own) => {
        const copy = { id: 'bank', version: '1.0.0' };
        return (own.use({ copy }).copy as { balance(caller: unknown): string }).balance(ADMIN);
      },
    });
    expect(message).to.match(/with a caller that the kernel did not mint/);
  });
});

describe('a third-party plugin that takes a caller from an event', () => {
  const receiveBy = async (name: string, from: (core: AnyHost) => Caller) => {
    let received: ReceivedEventMeta | undefined;
    const { message } = await runRefusedAttempt({
      manifest: USES,
      async later(own, core) {
        own.events.onAction(name, (meta) => void (received = meta as ReceivedEventMeta));
        core.events.action([name], { caller: from(core) });
        await new Promise((resolve) => setImmediate(resolve));
        return own.use({ bank: serviceWithCaller }).bank.balance((received as ReceivedEventMeta).caller);
      },
    });
    return { received: received as unknown as ReceivedEventMeta, message };
  };

  it('a third-party listener receives a description of the caller, which services deny', async () => {
    const { received, message } = await receiveBy('shop.sold', genuine);
    expect(received.caller).to.include({ user: 'ann', admin: false, system: false });
    expect(message).to.match(/cheat may not call bank\.balance/);
  });

  it('the description of a system caller has no admin rights', async () => {
    const { received, message } = await receiveBy('shop.cleaned', (core) => core.asSystem('housekeeping'));
    expect(received.caller).to.include({ admin: false, app: false, system: true });
    expect(received.caller).not.to.have.property('reason');
    expect(message).to.match(/cheat may not call bank\.balance/);
  });
});

describe('a third-party plugin that uses identity', () => {
  for (const [what, capabilities] of [
    ['identity', { identity: { evidence: ['user'] } }],
    ['packages', { packages: true }],
  ] as const) {
    it(`a third-party plugin is denied the capability ${what} whatever its manifest declares`, async () => {
      const { message, denied } = await runRefusedAttempt({ manifest: { capabilities } });
      expect(message).to.contain(`/capabilities/${what} is open to core plugins only`);
      expect(denied).to.have.length(1);
    });

    it(`a third-party plugin without a grant is denied host.${what}`, async () => {
      const { message, denied } = await runRefusedAttempt({ register: (host) => void host[what] });
      expect(message).to.contain(`cheat may not use host.${what}`);
      expect(denied).not.to.deep.equal([]);
    });
  }

  it('host.asSystem is denied without a grant, and for an undeclared reason', async () => {
    const without = await runRefusedAttempt({ register: (host) => void host.asSystem('greed') });
    expect(without.message).to.contain('cheat may not use host.asSystem');
    const { message, denied } = await runRefusedAttempt({
      manifest: { capabilities: { system: { reasons: ['housekeeping'] } } },
      register: (host) => void host.asSystem('greed'),
    });
    expect(message).to.contain('act without a user for "greed"');
    expect(denied).not.to.deep.equal([]);
  });
});
