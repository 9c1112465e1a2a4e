import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { startService } from '../../support/service.ts';
import { captureError } from '../../support/test-plugins.ts';
import { startMail } from '../mail/start-mail.ts';

interface SesMessage {
  readonly Content: { readonly Raw: { readonly Data: string } };
  readonly Destination: { readonly ToAddresses: readonly string[] };
}

/** Answers to requests of the API of SES, in their order; then each message is accepted. */
type Answer = { readonly status: number; readonly type: string } | 'no answer';

describe('mail-ses: messages by the API of SES', function () {
  this.timeout(120_000);
  let server: Server;
  const answers: Answer[] = [];
  const requests: { readonly path: string; readonly body: SesMessage; readonly signed: boolean }[] = [];
  before(async () => {
    server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      requests.push({
        path: request.url ?? '',
        body: JSON.parse(Buffer.concat(parts).toString()),
        signed: /^AWS4-HMAC-SHA256 Credential=KEY\//.test(request.headers.authorization ?? ''),
      });
      const answer = answers.shift();
      const isRefused = typeof answer === 'object' && answer.status !== 200;
      if (answer === 'no answer') return void request.socket.destroy();
      if (isRefused) response.writeHead(answer.status, { 'x-amzn-errortype': answer.type }).end('{"message":"why"}');
      else response.end('{"MessageId":"m-1"}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());
  afterEach(() => void answers.splice(0));

  const SETTINGS = {
    EMAIL_TRANSPORT: 'ses',
    EMAIL_SES_REGION: 'eu-central-1',
    EMAIL_SES_CREDENTIALS__ACCESS_KEY_ID: 'KEY',
    EMAIL_SES_CREDENTIALS__SECRET_ACCESS_KEY: 'SECRET',
  };
  const endpoint = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const start = () => startMail({ env: { ...SETTINGS, EMAIL_SES_ENDPOINT: endpoint() } });

  it('a message is sent whole, signed and once; refusals of it are final, others are retried', async () => {
    const running = await start();
    try {
      const send = async () =>
        running.ended(await running.mail.send({ to: 'ann@example.com', subject: 'Hello', html: '<p>Hello</p>' }));
      const sent = await send();
      expect(sent.result).to.deep.include({ outcome: 'accepted', response: 'accepted by SES as m-1' });
      expect(requests).to.have.length(1);
      expect(requests.length).to.equal(1);
      expect(requests[0]).to.deep.include({ path: '/v2/email/outbound-emails', signed: true });
      const [{ body }] = requests as [(typeof requests)[number]];
      const { Content, Destination } = body;
      expect(Destination).to.deep.equal({ ToAddresses: ['ann@example.com'] });
      const raw = Buffer.from(Content.Raw.Data, 'base64').toString();
      expect(raw).to.include(`Message-ID: <${sent.id}@example.com>`).and.include('Subject: Hello');

      answers.push({ status: 429, type: 'TooManyRequestsException' }, 'no answer');
      expect(await send()).to.include({ state: 'completed', attempt: 3 });
      expect(requests).to.have.length(4);

      answers.push({ status: 400, type: 'MessageRejected' });
      const rejected = await send();
      expect(rejected).to.include({ state: 'failed', attempt: 1 });
      expect(rejected.errors[0]?.message).to.equal('SES: MessageRejected: why');
    } finally {
      await running.stop();
    }
  });

  describe('a message to more recipients than one request may have', () => {
    const addresses = Array.from({ length: 100 }, (_, at) => `user-${at}@example.com`);
    const [first, second] = [addresses.slice(0, 50), addresses.slice(50)];
    /** Sends to all addresses, and returns the job with the recipients of each request. */
    async function sendToAll(...all: Answer[]) {
      const running = await start();
      try {
        const { length } = requests;
        answers.push(...all);
        const [to, ...bcc] = addresses as [string, ...string[]];
        const job = await running.ended(await running.mail.send({ to, bcc, subject: 'Hello', text: 'Hello' }));
        return { job, sent: requests.slice(length).map(({ body }) => body.Destination.ToAddresses) };
      } finally {
        await running.stop();
      }
    }
    const ACCEPTED = { status: 200, type: '' };

    it('is sent by several requests', async () => {
      const { job, sent } = await sendToAll();
      expect(sent).to.deep.equal([first, second]);
      expect(job).to.include({ state: 'completed', attempt: 1 });
    });

    it('is sent again only to the recipients of the request that failed', async () => {
      const { job, sent } = await sendToAll(ACCEPTED, { status: 429, type: 'TooManyRequestsException' });
      expect(sent).to.deep.equal([first, second, second]);
      expect(job).to.include({ state: 'completed', attempt: 2 });
    });

    it('is final for the recipients of a request that was refused, and sent to the others', async () => {
      const { job, sent } = await sendToAll({ status: 400, type: 'MessageRejected' });
      expect(sent).to.deep.equal([first, second]);
      expect(job).to.include({ state: 'failed', attempt: 1 });
      expect(job.errors[0]?.message).to.match(
        /^50 recipients accepted, 50 refused\. user-0@example\.com: SES: MessageRejected/,
      );
    });

    it('fails as a whole where all requests fail, and is tried again where one of them may succeed', async () => {
      const rejected = { status: 400, type: 'MessageRejected' };
      const { job, sent } = await sendToAll(rejected, { status: 503, type: 'ServiceUnavailable' });
      expect(sent).to.deep.equal([first, second, first, second]);
      expect(job).to.include({ state: 'completed', attempt: 2 });
      expect((await sendToAll(rejected, rejected)).job).to.include({ state: 'failed', attempt: 1 });
    });
  });

  it('the health check is ok where a signed request is understood, and an error where its signature is refused', async () => {
    const env = { ...SETTINGS, EMAIL_SES_ENDPOINT: endpoint(), EMAIL_VERIFY_SETUP: 'false' };
    for (const [answer, status] of [
      [{ status: 400, type: 'BadRequestException' }, 200],
      [{ status: 403, type: 'InvalidClientTokenId' }, 503],
    ] as const) {
      const service = await startService({ env });
      try {
        answers.push(answer);
        expect((await service.request('GET', '/server/health')).status).to.equal(status);
      } finally {
        await service.stop();
      }
    }
  });

  it('the start stops without a region, with half of the credentials, and for an endpoint that is no URL', async () => {
    const changes: readonly Record<string, string>[] = [
      { EMAIL_SES_REGION: '' },
      { EMAIL_SES_CREDENTIALS__ACCESS_KEY_ID: '' },
      { EMAIL_SES_ENDPOINT: 'x y' },
    ];
    for (const change of changes) {
      const error = await captureError(startMail({ env: { ...SETTINGS, ...change } }));
      expect(error.message).to.include(Object.keys(change)[0]);
      expect(error.remedy).to.be.a('string');
    }
  });
});
