import { expect } from 'chai';
import type { SMTPServerOptions } from 'smtp-server';
import type { OutgoingMail } from '../../../plugins/mail/contract.ts';
import { MailDeliveryError } from '../../../plugins/mail/library.ts';
import { createSmtpTransport } from '../../../plugins/mail-smtp/transport.ts';
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts';
import { SELF_SIGNED_CERTIFICATE } from '../../support/self-signed-certificate.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';

type SmtpServer = Parameters<typeof createSmtpTransport>[0];
type SmtpTimeLimits = NonNullable<Parameters<typeof createSmtpTransport>[1]['delivery']>;

const MAIL: OutgoingMail = {
  messageId: '<1@example.com>',
  from: { name: 'Shop', address: 'shop@example.com' },
  to: [
    { name: 'Ann', address: 'ann@example.com' },
    { name: '', address: 'bob@example.com' },
  ],
  cc: [],
  recipients: ['ann@example.com', 'bob@example.com'],
  subject: 'Hello',
  html: '<p>Hello</p>',
  text: 'Hello',
};

const LIMITS: SmtpTimeLimits = { connect: 5000, greeting: 5000, idle: 5000, total: 10_000 };
const never = () => new AbortController().signal;

describe('mail-smtp: createSmtpTransport()', function () {
  this.timeout(60_000);
  const servers: TestMailServer[] = [];
  afterEach(async () => {
    for (const one of servers.splice(0)) await one.stop();
  });

  async function open(
    server: Partial<SmtpServer> = {},
    { limits = LIMITS, pool = false, ...options }: SMTPServerOptions & { limits?: SmtpTimeLimits; pool?: boolean } = {},
  ) {
    const mailServer = await startMailServer(options);
    servers.push(mailServer);
    const settings = { host: 'localhost', secure: false, ignoreTLS: true, tls: {}, ...server, port: mailServer.port };
    const transport = createSmtpTransport(settings, { pool, delivery: limits, verify: limits });
    return { mailServer, transport, send: (mail = MAIL, signal = never()) => transport.send(mail, signal) };
  }

  async function failure(sending: Promise<unknown>): Promise<MailDeliveryError> {
    const error = await captureError(sending);
    expect(error).to.be.instanceOf(MailDeliveryError);
    return error as unknown as MailDeliveryError;
  }

  it('a message arrives with its headers, HTML and text, and the reply of the server is the response', async () => {
    const { mailServer, send } = await open();
    const delivery = await send();
    expect(delivery.response).to.match(/^250 .*accepted as 1/);
    expect(delivery.refused).to.deep.equal([]);
    const [mail] = mailServer.received;
    expect(mail).to.deep.include({ from: 'shop@example.com', to: ['ann@example.com', 'bob@example.com'] });
    for (const part of ['Message-ID: <1@example.com>', 'From: Shop <shop@example.com>', 'To: Ann <ann@example.com>'])
      expect(mail?.source).to.include(part);
    expect(mail?.source).to.include('text/plain').and.to.include('<p>Hello</p>');
  });

  it('a connection is closed after each message', async () => {
    const { mailServer, send } = await open();
    await send();
    await until(() => mailServer.connections().open === 0);
  });

  it('a pool sends several messages over one connection and closes it with the transport', async () => {
    const { mailServer, send, transport } = await open({}, { pool: true });
    for (const messageId of ['<1@example.com>', '<2@example.com>']) await send({ ...MAIL, messageId });
    expect(mailServer.connections().total).to.equal(1);
    expect(mailServer.received.length).to.equal(2);
    await transport.close?.();
    await until(() => mailServer.connections().open === 0);
  });

  it('a reply of 4xx to the message is temporary, one of 5xx permanent', async () => {
    const { mailServer, send } = await open();
    mailServer.reactions.push({ code: 451, text: 'try later' }, { code: 554, text: 'spam' });
    expect(await failure(send())).to.include({ permanent: false, message: '451 try later' });
    expect(await failure(send())).to.include({ permanent: true, message: '554 spam' });
    expect(mailServer.received.length).to.equal(0);
  });

  it('a refused sender is permanent with 5xx and temporary with 4xx', async () => {
    const reply = { code: 550 };
    const { send } = await open(
      {},
      { onMailFrom: (_address, _session, done) => done(Object.assign(new Error('no'), { responseCode: reply.code })) },
    );
    expect((await failure(send())).permanent).to.equal(true);
    reply.code = 450;
    expect((await failure(send())).permanent).to.equal(false);
  });

  it('refused recipients are listed with the reply of the server while the others get the message', async () => {
    const { mailServer, send } = await open();
    mailServer.recipients.set('bob@example.com', { code: 550, text: 'no such user' });
    const delivery = await send();
    expect(delivery.refused).to.deep.equal([
      { address: 'bob@example.com', permanent: true, reason: '550 no such user' },
    ]);
    expect(mailServer.received.map(({ to }) => to)).to.deep.equal([['ann@example.com']]);
  });

  it('all recipients are listed as refused where the server accepts none', async () => {
    const { mailServer, send } = await open();
    mailServer.recipients.set('ann@example.com', { code: 450, text: 'busy' });
    mailServer.recipients.set('bob@example.com', { code: 550, text: 'no such user' });
    const { refused } = await send();
    expect(refused.map(({ address, permanent }) => [address, permanent])).to.deep.equal([
      ['ann@example.com', false],
      ['bob@example.com', true],
    ]);
    expect(mailServer.received.length).to.equal(0);
  });

  it('a connection that breaks before the reply to the message is a temporary failure', async () => {
    const { mailServer, send } = await open();
    mailServer.reactions.push('drop before reply');
    expect((await failure(send())).permanent).to.equal(false);
  });

  it('a connection that breaks after the reply to the message is a success', async () => {
    const { mailServer, send } = await open();
    mailServer.reactions.push('drop after reply');
    expect((await send()).response).to.match(/^250 /);
    expect(mailServer.received.length).to.equal(1);
  });

  it('a server that does not reply is given up after the idle limit', async () => {
    const { mailServer, send } = await open({}, { limits: { ...LIMITS, idle: 300 } });
    mailServer.reactions.push('no reply');
    expect((await failure(send())).permanent).to.equal(false);
    await until(() => mailServer.connections().open === 0);
  });

  it('the total limit and an aborted signal end an exchange and close its connection', async () => {
    const { mailServer, send } = await open({}, { limits: { ...LIMITS, total: 300 } });
    mailServer.reactions.push('no reply');
    expect((await failure(send())).permanent).to.equal(false);
    await until(() => mailServer.connections().open === 0);

    const patient = await open();
    patient.mailServer.reactions.push('no reply');
    const stop = new AbortController();
    const sending = failure(patient.send(MAIL, stop.signal));
    await until(() => patient.mailServer.reactions.length === 0);
    stop.abort();
    expect((await sending).permanent).to.equal(false);
    await until(() => patient.mailServer.connections().open === 0);
  });

  it('a pool gives up a server that does not reply and sends the next message over a new connection', async () => {
    const { mailServer, send, transport } = await open({}, { pool: true, limits: { ...LIMITS, total: 300 } });
    mailServer.reactions.push('no reply');
    expect((await failure(send())).permanent).to.equal(false);
    expect((await send()).response).to.match(/^250 /);
    await transport.close?.();
  });

  it('a server that cannot be reached is a temporary failure', async () => {
    const { mailServer, send } = await open();
    await mailServer.stop();
    expect((await failure(send())).permanent).to.equal(false);
  });

  it('a refused sign-in is a temporary failure, since no message is at fault', async () => {
    const { mailServer, send, transport } = await open(
      { auth: { user: 'ann', pass: 'wrong' } },
      {
        allowInsecureAuth: true,
        onAuth: ({ password }, _session, done) => done(password === 'right' ? null : new Error('no'), { user: 1 }),
      },
    );
    expect((await failure(send())).permanent).to.equal(false);
    expect(mailServer.received.length).to.equal(0);
    expect((await captureError(transport.verify())).message).to.include('535');
  });

  describe('TLS', () => {
    const starttls = { ignoreTLS: false };

    it('a self-signed certificate is refused, by STARTTLS and from the first byte', async () => {
      for (const server of [starttls, { secure: true, ignoreTLS: false }]) {
        const { mailServer, send, transport } = await open(server, { secure: server !== starttls });
        expect((await failure(send())).message).to.match(/self-signed|self signed/);
        expect((await captureError(transport.verify())).message).to.match(/self-signed|self signed/);
        expect(mailServer.received.length).to.equal(0);
      }
    });

    it('a self-signed certificate is accepted as the trusted one, and where any is accepted', async () => {
      const trusting: SmtpServer['tls'][] = [{ ca: SELF_SIGNED_CERTIFICATE }, { rejectUnauthorized: false }];
      for (const tls of trusting) {
        for (const secure of [false, true]) {
          const { mailServer, send, transport } = await open({ tls, secure, ignoreTLS: false }, { secure });
          await send();
          await transport.verify();
          expect(mailServer.received.length).to.equal(1);
        }
      }
    });

    it('a certificate of another name is refused', async () => {
      const tls = { ca: SELF_SIGNED_CERTIFICATE, servername: 'mail.example.com' };
      const { send } = await open({ tls, ignoreTLS: false });
      expect((await failure(send())).message).to.match(/altnames|does not match/i);
    });
  });

  describe('verify()', () => {
    it('resolves where the server greets and takes the sign-in, and leaves no connection', async () => {
      const { mailServer, transport } = await open(
        { auth: { user: 'ann', pass: 'right' } },
        { allowInsecureAuth: true, onAuth: (_auth, _session, done) => done(null, { user: 1 }) },
      );
      await transport.verify();
      await until(() => mailServer.connections().open === 0);
      expect(mailServer.received.length).to.equal(0);
    });

    it('rejects within its limit where the server accepts the connection and says nothing', async () => {
      const { transport } = await open(
        {},
        { limits: { connect: 300, greeting: 300, idle: 300, total: 400 }, onConnect: () => {} },
      );
      const since = performance.now();
      await captureError(transport.verify());
      expect(performance.now() - since).to.be.below(20_000);
    });
  });
});
