import { expect } from 'chai';
import { captureError } from '../../support/test-plugins.ts';
import { type RunningMail, startMail } from './start-mail.ts';

const MESSAGE = { to: 'ann@example.com', subject: 'Hello', html: '<p>Hello</p>' };

describe('mail: delivery by jobs', function () {
  this.timeout(120_000);
  let running: RunningMail;
  before(async () => {
    running = await startMail();
  });
  after(() => running?.stop());
  afterEach(() => {
    running.server.recipients.clear();
    running.server.reactions.length = 0;
  });

  const send = async (message = MESSAGE as Parameters<RunningMail['mail']['send']>[0]) =>
    running.ended(await running.mail.send(message));
  /** Messages that the server accepted while `work` ran. */
  async function receivedDuring(work: () => Promise<unknown>) {
    const { length } = running.server.received;
    await work();
    return running.server.received.slice(length);
  }
  it('a message is sent once, with a Message-ID made of the id of its job', async () => {
    const received = await receivedDuring(async () => {
      const job = await send();
      expect(job).to.deep.include({ state: 'completed', attempt: 1 });
      expect(job.result).to.deep.include({ outcome: 'accepted', messageId: `<${job.id}@example.com>` });
      expect(running.server.received.at(-1)?.source).to.include(`Message-ID: <${job.id}@example.com>`);
    });
    expect(received.map(({ to }) => to)).to.deep.equal([['ann@example.com']]);
  });

  it('a message of a unit of work is sent after its commit, and never after a rollback', async () => {
    const { db } = running.host;
    const received = await receivedDuring(async () => {
      await captureError(
        db.transaction(async () => {
          await running.mail.send({ ...MESSAGE, subject: 'never' });
          throw new Error('rolled back');
        }),
      );
      let id = '';
      await db.transaction(async () => {
        id = await running.mail.send({ ...MESSAGE, subject: 'once' });
        expect(running.queues.jobs.some((job) => job.id === id)).to.equal(false);
      });
      await running.ended(id);
    });
    expect(received.length).to.equal(1);
    expect(received[0]?.source).to.include('Subject: once');
  });

  it('replies of 4xx and broken connections are retried until the server accepts', async () => {
    const received = await receivedDuring(async () => {
      running.server.reactions.push({ code: 451, text: 'later' }, 'drop before reply', { code: 421, text: 'closing' });
      expect(await send()).to.deep.include({ state: 'completed', attempt: 4 });
    });
    expect(received.length).to.equal(1);
  });

  it('a reply of 5xx ends the job at once with the reply as the reason', async () => {
    running.server.reactions.push({ code: 554, text: 'looks like spam' });
    const job = await send();
    expect(job).to.include({ state: 'failed', attempt: 1 });
    expect(job.errors[0]?.message).to.equal('554 looks like spam');
  });

  it('a connection that breaks after the reply sends nothing again', async () => {
    const received = await receivedDuring(async () => {
      running.server.reactions.push('drop after reply');
      expect(await send()).to.deep.include({ state: 'completed', attempt: 1 });
    });
    expect(received.length).to.equal(1);
  });

  it('a job that runs again after its message was accepted sends nothing', async () => {
    const received = await receivedDuring(async () => {
      const job = await send();
      expect(await running.queues.runLeftBehind('mail', job)).to.deep.include({
        outcome: 'accepted',
        messageId: `<${job.id}@example.com>`,
      });
    });
    expect(received.length).to.equal(1);
  });

  it('refused recipients are the reason of the failed job, and the accepted ones get no second copy', async () => {
    running.server.recipients.set('bob@example.com', { code: 550, text: 'no such user' });
    const received = await receivedDuring(async () => {
      const job = await send({ ...MESSAGE, to: ['ann@example.com', 'bob@example.com'] });
      expect(job).to.include({ state: 'failed', attempt: 1 });
      expect(job.errors[0]?.message).to.equal('1 recipients accepted, 1 refused. bob@example.com: 550 no such user');
    });
    expect(received.map(({ to }) => to)).to.deep.equal([['ann@example.com']]);
  });

  it('a refused recipient of a domain in other letters is known again', async () => {
    running.server.recipients.set('bob@bücher.example', { code: 550, text: 'no such user' });
    running.server.recipients.set('bob@xn--bcher-kva.example', { code: 550, text: 'no such user' });
    const job = await send({ ...MESSAGE, to: ['bob@bücher.example', 'ann@example.com'] });
    expect(job.errors[0]?.message).to.match(/^1 recipients accepted, 1 refused\. bob@/);
    const rows = await running.database.query('select recipient from platform_mail_acceptances where message = $1', [
      job.id,
    ]);
    expect(rows).to.deep.equal([{ recipient: 'ann@example.com' }]);
  });

  it('a recipient refused for the moment gets the message in a later attempt, alone', async () => {
    running.server.recipients.set('bob@example.com', { code: 450, text: 'mailbox busy' });
    const received = await receivedDuring(async () => {
      const id = await running.mail.send({
        ...MESSAGE,
        to: 'ann@example.com',
        cc: ['Bob@EXAMPLE.com', 'bob@example.com'],
      });
      const job = () => running.queues.jobs.find((one) => one.id === id);
      while (job()?.attempt !== 2) await new Promise((resolve) => setTimeout(resolve, 5));
      running.server.recipients.clear();
      expect((await running.ended(id)).state).to.equal('completed');
    });
    expect(received.map(({ to }) => to)).to.deep.equal([['ann@example.com', 'Bob@example.com'], ['bob@example.com']]);
  });

  it('recipients of bcc get the message and stand in no header', async () => {
    const [mail] = await receivedDuring(() => send({ ...MESSAGE, cc: 'bob@example.com', bcc: 'eve@example.com' }));
    expect(mail?.to).to.deep.equal(['ann@example.com', 'bob@example.com', 'eve@example.com']);
    expect(mail?.source).to.include('Cc: bob@example.com').and.not.to.include('eve@');
  });

  describe('the event email.send', () => {
    it('a listener changes a message before it is sent', async () => {
      const off = running.host.events.onFilter('email.send', (message) => ({
        ...(message as object),
        subject: 'Changed',
        to: 'eve@example.com',
      }));
      const received = await receivedDuring(() => send());
      off();
      expect(received.map(({ to }) => to)).to.deep.equal([['eve@example.com']]);
      expect(received[0]?.source).to.include('Subject: Changed');
    });

    it('a message that a listener answers with false or null is not sent', async () => {
      for (const answer of [false, null]) {
        const off = running.host.events.onFilter('email.send', () => answer);
        const received = await receivedDuring(async () => {
          expect((await send()).result).to.deep.equal({ outcome: 'rejected by a listener' });
        });
        off();
        expect(received.length).to.equal(0);
      }
    });

    it('a message that a listener makes invalid ends its job with the reason', async () => {
      const off = running.host.events.onFilter('email.send', (message) => ({
        ...(message as object),
        subject: 'x\r\nBcc: eve@example.com',
      }));
      const job = await send();
      off();
      expect(job).to.include({ state: 'failed', attempt: 1 });
      expect(job.errors[0]?.message).to.include('"subject" must not have line breaks');
    });
  });

  it('a second process that runs the job of a running attempt sends nothing', async () => {
    running.server.reactions.push('no reply');
    const id = await running.mail.send(MESSAGE);
    while (running.server.reactions.length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const other = await startMail({ database: running.database, server: running.server });
    try {
      const error = await captureError(other.queues.runLeftBehind('mail', { id, data: { message: MESSAGE } }));
      expect(error.message).to.equal('another process is sending this message');
    } finally {
      await other.stop();
    }
  });
});

describe('mail: what the start refuses', function () {
  this.timeout(120_000);
  for (const [title, env, message] of [
    ['an unknown transport', { EMAIL_TRANSPORT: 'pigeon' }, 'EMAIL_TRANSPORT is pigeon'],
    ['the transport mailgun, with the way by SMTP', { EMAIL_TRANSPORT: 'mailgun' }, 'EMAIL_TRANSPORT is mailgun'],
    ['an EMAIL_FROM without an address', { EMAIL_FROM: 'shop' }, 'EMAIL_FROM is no e-mail address'],
    ['a user without a password', { EMAIL_SMTP_USER: 'ann' }, 'only one of EMAIL_SMTP_USER'],
    ['TLS that is asked for and forbidden', { EMAIL_SMTP_SECURE: 'true' }, 'EMAIL_SMTP_SECURE asks for TLS'],
    [
      'versions of TLS in the wrong order',
      { EMAIL_SMTP_TLS_MIN_VERSION: 'TLSv1.3', EMAIL_SMTP_TLS_MAX_VERSION: 'TLSv1.2' },
      'EMAIL_SMTP_TLS_MIN_VERSION is above',
    ],
  ] as const) {
    it(`the start stops for ${title}`, async () => {
      const error = await captureError(startMail({ env }));
      expect(error.message).to.include(message);
      expect(error.remedy).to.be.a('string');
    });
  }

  it('the transport smtp stops the start without a host', async () => {
    expect((await captureError(startMail({ env: { EMAIL_SMTP_HOST: '' } }))).message).to.include(
      'EMAIL_SMTP_HOST is unset',
    );
  });
});
