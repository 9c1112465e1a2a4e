import { expect } from 'chai';
import type { Host } from '#kernel';
import { broker, type ConfinedCodeInvocation, type PackageGrantBroker } from '../../../plugins/broker/contract.ts';
import { InvocationSecrets } from '../../../plugins/broker/library.ts';
import type { MailApi } from '../../../plugins/mail/contract.ts';
import { captureError } from '../../support/test-plugins.ts';
import { type RunningMail, startMail } from './start-mail.ts';

const invocation = (secrets = new InvocationSecrets()): ConfinedCodeInvocation => ({
  id: '1',
  caller: null,
  signal: new AbortController().signal,
  secrets,
});

describe('mail: the capability mail', function () {
  this.timeout(120_000);

  let running: RunningMail;
  let packages: PackageGrantBroker;
  before(async () => {
    running = await startMail({
      plugins: [
        {
          name: 'packages',
          manifest: { uses: { broker: '^1.0.0' } },
          register: (host: Host) => void (packages = host.use({ broker }).broker),
        },
      ],
    });
  });
  after(() => running?.stop());

  describe('the grant', () => {
    const fits = (grant: unknown) => packages.findProblems({ mail: grant }).length === 0;
    const widens = (before: unknown, after: unknown) =>
      packages.widens(before === undefined ? {} : { mail: before }, { mail: after });

    it('a grant names domains, or * for any, and a number of recipients an hour', () => {
      expect(fits({ domains: ['example.com', 'bücher.example', 'localhost', '*'], perHour: 1 })).to.equal(true);
      for (const grant of [
        true,
        {},
        { domains: ['example.com'] },
        { perHour: 1 },
        { domains: [], perHour: 1 },
        { domains: ['*.example.com'], perHour: 1 },
        { domains: ['ann@example.com'], perHour: 1 },
        { domains: ['a b'], perHour: 1 },
        { domains: ['example.com'], perHour: 0 },
        { domains: ['example.com'], perHour: 1.5 },
        { domains: ['example.com'], perHour: 1, more: 1 },
      ])
        expect(fits(grant), JSON.stringify(grant)).to.equal(false);
    });

    it('the audit names the domains and the number', () => {
      expect(packages.describe({ mail: { domains: ['B.example', 'a.example'], perHour: 5 } })).to.deep.equal([
        'sends mail to a.example, b.example (at most 5 recipients an hour)',
      ]);
      expect(packages.describe({ mail: { domains: ['*'], perHour: 5 } }).join()).to.include('any address');
    });

    it('another domain or a higher number widens a grant', () => {
      const before = { domains: ['a.example', 'b.example'], perHour: 5 };
      expect(widens(undefined, before)).to.equal(true);
      expect(widens(before, { domains: ['A.example'], perHour: 4 })).to.equal(false);
      expect(widens(before, { domains: ['c.example'], perHour: 5 })).to.equal(true);
      expect(widens(before, { ...before, perHour: 6 })).to.equal(true);
      expect(widens({ domains: ['*'], perHour: 5 }, before)).to.equal(false);
    });
  });

  describe('host.mail.send()', () => {
    let count = 0;
    function register(grant: unknown) {
      const handle = packages.register({
        name: `package-${count++}`,
        version: '1.0.0',
        runtime: 'confined',
        grants: grant === undefined ? {} : { mail: grant },
      });
      const call = (message: unknown, run = invocation()) => handle.call('mail.send', [message], run);
      return { ...handle, call };
    }
    const GRANT = { domains: ['example.com'], perHour: 3 };
    const MESSAGE = { to: 'ann@example.com', subject: 'Hello', text: 'Hello' };
    const refusal = async (call: Promise<unknown>) => (await captureError(call)).code;

    it('a package sends to a granted domain, from EMAIL_FROM', async () => {
      const id = await register(GRANT).call({
        ...MESSAGE,
        to: ['Ann <ann@EXAMPLE.com>'],
        replyTo: 'bob@other.example',
      });
      expect((await running.ended(id as string)).state).to.equal('completed');
      const source = running.server.received.at(-1)?.source;
      expect(source).to.include('From: Shop <shop@example.com>').and.include('Reply-To: bob@other.example');
    });

    it('another domain is denied for each recipient, and the denial is in the ledger', async () => {
      const one = register(GRANT);
      for (const to of [
        'eve@other.example',
        ['ann@example.com', 'eve@sub.example.com'],
        'eve@example.com.evil.example',
      ])
        expect(await refusal(one.call({ ...MESSAGE, to }))).to.equal('denied');
      const entries = running.kernel.ledger.entries().filter(({ plugin }) => plugin === one.holder.name);
      expect(entries.some(({ kind, what }) => kind === 'denied' && what.includes('mail'))).to.equal(true);
      await one.call(MESSAGE);
    });

    it('recipients are counted for an hour, over all messages of the package', async () => {
      const one = register(GRANT);
      await one.call({ ...MESSAGE, to: ['a@example.com', 'b@example.com'] });
      expect(await refusal(one.call({ ...MESSAGE, to: ['c@example.com', 'd@example.com'] }))).to.equal('rate_limited');
      await one.call(MESSAGE);
      expect(await refusal(one.call(MESSAGE))).to.equal('rate_limited');
      await register(GRANT).call(MESSAGE);
    });

    it('a message over the limits, with a header of its own or with a template is refused', async () => {
      const one = register(GRANT);
      for (const change of [
        { subject: 'a\r\nBcc: eve@example.com' },
        { to: 'ann@example.com\r\nBcc: eve@example.com' },
        { cc: 'eve@other.example' },
        { bcc: 'eve@other.example' },
        { template: { name: 'password-reset' } },
        { fromName: 'Bank' },
        { to: [] },
        { text: 1 },
      ])
        expect(await refusal(one.call({ ...MESSAGE, ...change })), JSON.stringify(change)).to.equal('invalid_request');
    });

    it('a package without the grant, and a message with a secret reference, are denied', async () => {
      expect(await refusal(register(undefined).call(MESSAGE))).to.equal('denied');
      const secrets = new InvocationSecrets();
      const { ref } = secrets.conceal('the password');
      expect(await refusal(register(GRANT).call({ ...MESSAGE, text: `x ${ref}` }, invocation(secrets)))).to.equal(
        'denied',
      );
    });

    it('members that the capability does not know do not pass through the object of a plugin', async () => {
      const api = register({ domains: ['*'], perHour: 10 }).get<MailApi>('mail');
      const message = { ...MESSAGE, subject: 'Unknown members', bcc: 'eve@other.example', fromName: 'Bank' };
      await running.ended(await api.send(message));
      const sent = running.server.received.find(({ source }) => source.includes('Subject: Unknown members'));
      expect(sent?.to).to.deep.equal(['ann@example.com']);
      expect(sent?.source).not.to.include('Bank');
    });
  });
});
