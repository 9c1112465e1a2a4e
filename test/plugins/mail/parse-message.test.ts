import { expect } from 'chai';
import type { MailMessage } from '../../../plugins/mail/contract.ts';
import { captureError } from '../../support/test-plugins.ts';
import { type RunningMail, startMail } from './start-mail.ts';

const MESSAGE: MailMessage = { to: 'ann@example.com', subject: 'Hello', text: 'Hello' };

describe('mail: the messages that send() takes', function () {
  this.timeout(120_000);
  let running: RunningMail;
  before(async () => {
    running = await startMail();
  });
  after(() => running?.stop());

  const refusal = (change: Record<string, unknown>) =>
    captureError(running.mail.send({ ...MESSAGE, ...change } as MailMessage));

  it('addresses are texts with or without a name, one or several, each recipient once', async () => {
    const id = await running.mail.send({
      ...MESSAGE,
      to: ['Ann <ann@example.com>', '"Smith, Bob" <bob@bücher.example>', 'ann@EXAMPLE.com'],
      cc: 'cy@localhost',
      bcc: ['eve@example.com'],
      replyTo: 'Shop <shop@example.com>',
      fromName: 'The shop',
    });
    expect((await running.ended(id)).state).to.equal('completed');
    const [mail] = running.server.received;
    expect(mail?.to.length).to.equal(4);
    for (const header of ['From: The shop <shop@example.com>', 'Reply-To: Shop <shop@example.com>', 'Cc: cy@localhost'])
      expect(mail?.source).to.include(header);
    expect(mail?.source).to.match(/^To: Ann <ann@example\.com>, "Smith, Bob"\s+<bob@xn--bcher-kva\.example>/m);
  });

  for (const [title, address] of [
    ['a line break that would add a header', 'ann@example.com\r\nBcc: eve@example.com'],
    ['a line break in the name', 'Ann\nBcc: eve@example.com <ann@example.com>'],
    ['two addresses in one text', 'ann@example.com, eve@example.com'],
    ['two addresses in angle brackets', 'Ann <ann@example.com> <eve@example.com>'],
    ['a group', 'All: ann@example.com;'],
    ['a quoted part before the @, which servers read in different ways', '"eve@example.org x"@example.com'],
    ['a comment', 'ann@example.com (eve@example.org)'],
    ['a text before an address', 'ann eve@example.com'],
    ['an option of a program', '-oQ/tmp@example.com'],
    ['no domain', 'ann@'],
    ['no @', 'ann'],
    ['an empty text', ''],
    ['a part before the @ that is too long', `${'a'.repeat(65)}@example.com`],
    ['an address that is too long', `ann@${'a.'.repeat(130)}example.com`],
    ['a number', 1],
    ['an object', { address: 'ann@example.com' }],
  ] as const) {
    it(`an address is refused with ${title}`, async () => {
      for (const field of ['to', 'cc', 'bcc', 'replyTo']) {
        const error = await refusal({ [field]: address });
        expect(error).to.include({ code: 'INVALID_PAYLOAD' });
        expect(error.extensions).to.include({ field });
      }
    });
  }

  for (const text of ['a\r\nBcc: eve@example.com', 'a\nb', 'a\rb', 'a\u0000b', 'a\u2028b', 'a\u0085b']) {
    it(`a subject and a name with ${JSON.stringify(text)} are refused`, async () => {
      for (const field of ['subject', 'fromName'])
        expect(await refusal({ [field]: text })).to.include({ code: 'INVALID_PAYLOAD' });
    });
  }

  it('at most 100 recipients are allowed over to, cc and bcc', async () => {
    const list = (count: number, from = 0) => Array.from({ length: count }, (_one, at) => `u${from + at}@example.com`);
    await running.mail.send({ ...MESSAGE, to: list(60), bcc: list(40, 60) });
    for (const change of [{ to: list(101) }, { to: list(60), cc: list(41, 60) }, { to: [] }])
      expect(await refusal(change)).to.include({ code: 'INVALID_PAYLOAD' });
  });

  it('a message has one content, of limited size', async () => {
    const template = { name: 'base' };
    for (const change of [
      { text: undefined },
      { template },
      { html: 1 },
      { html: 'x'.repeat(500_001) },
      { text: 'x'.repeat(250_001) },
      { text: undefined, template: { name: '../secret' } },
      { text: undefined, template: { name: 'a/b' } },
      { text: undefined, template: { name: 'base', data: { a: 'x'.repeat(300_000) } } },
      { subject: '' },
      { subject: 'x'.repeat(501) },
      { html: 'ü'.repeat(499_999) },
    ])
      expect(await refusal(change)).to.include({ code: 'INVALID_PAYLOAD' });
  });
});
