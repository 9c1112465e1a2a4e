import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createTestUserAccount, createUserSender, makeRole, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow, createWebhook, type TestStep } from './flow-fixture.ts';
import { OPERATION_ROWS, onTags } from './operation-rows.ts';

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: { is_nullable: true } };
describe('options of operations', function () {
  this.timeout(180_000);
  let service: InProcessService;
  let mails: TestMailServer;
  let admin: SendAsUser;
  let server: Server;
  let url: string;
  const requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  before(async () => {
    mails = await startMailServer();
    server = createServer(async (request, response) => {
      const { method = '', url: path = '', headers } = request;
      requests.push({ method, url: path, headers, body: await text(request) });
      const status = Number(path.slice(1)) || 200;
      response.writeHead(status, { 'content-type': 'application/json', 'x-own': 'yes' });
      response.end(status === 204 ? undefined : JSON.stringify({ status }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    service = await startService({
      env: {
        IMPORT_IP_ALLOW_LIST: '127.0.0.1',
        LOG_LEVEL: 'info',
        EMAIL_TRANSPORT: 'smtp',
        EMAIL_SMTP_HOST: '127.0.0.1',
        EMAIL_SMTP_PORT: String(mails.port),
        EMAIL_SMTP_IGNORE_TLS: 'true',
      },
    });
    admin = createUserSender(service, service.admin.token);
    await admin('POST', '/collections', { collection: 'tags', schema: {}, fields: [key, name] });
  });
  after(async () => {
    await service?.stop();
    await mails?.stop();
    server?.close();
  });
  beforeEach(async () => {
    requests.length = 0;
    await service.database.query(`truncate tags restart identity; insert into tags (name) values ('a'), ('b'), ('c')`);
  });
  afterEach(() => admin('DELETE', '/flows', { query: { limit: -1 } }));

  /** The value of one operation, and whether it resolved. */
  async function run(type: string, options: object, ask: SendAsUser = admin) {
    const steps: readonly TestStep[] = [
      { key: 'one', type, options: options as TestStep['options'] },
      { key: 'ok', type: 'transform', options: { json: 'true' } },
    ];
    const id = await createWebhook(admin, steps, { return: '$all' });
    const { body } = await ask('POST', `/flows/trigger/${id}`, { n: 5, t: 'text', list: ['y'], s: '5' });
    return { value: body.one, isResolved: body.ok === true };
  }

  for (const [type, options, expected] of OPERATION_ROWS)
    it(`${type} with ${JSON.stringify(options)} gives ${JSON.stringify(expected)}`, async () => {
      const { value, isResolved } = await run(type, options);
      const code = (expected as { fails?: string } | null)?.fails;
      expect(isResolved, JSON.stringify(value)).to.equal(code === undefined);
      if (code === undefined) expect(value).to.deep.equal(expected);
      else expect([value].flat()[0].code, JSON.stringify(value)).to.equal(code);
    });

  describe('request', () => {
    it('gives status, statusText, headers and data, and sends method, headers and body', async () => {
      const { value, isResolved } = await run('request', {
        method: 'put',
        url: `${url}/201`,
        headers: [{ header: 'X-Mine', value: '{{ $trigger.body.t }}' }],
        body: { n: '{{ $trigger.body.n }}' },
      });
      expect(isResolved).to.equal(true);
      expect(value).to.deep.include({ status: 201, statusText: 'Created', data: { status: 201 } });
      expect(value.headers).to.include({ 'x-own': 'yes' });
      const [sent] = requests;
      expect(sent).to.include({ method: 'PUT', url: '/201', body: '{"n":5}' });
      expect(sent?.headers).to.include({ 'x-mine': 'text', 'content-type': 'application/json' });
    });

    for (const [title, options, expected] of [
      [
        'a text that is JSON has the content type of JSON',
        { body: '{"a":1}' },
        { body: '{"a":1}', type: 'application/json' },
      ],
      ['a text that is no JSON has none', { body: 'a=1' }, { body: 'a=1', type: undefined }],
      [
        'a content type of the flow stays',
        { body: '{"a":1}', headers: [{ header: 'Content-Type', value: 'text/plain' }] },
        { body: '{"a":1}', type: 'text/plain' },
      ],
    ] as const)
      it(title, async () => {
        await run('request', { method: 'POST', url: `${url}/`, ...options });
        expect([requests[0]?.body, requests[0]?.headers['content-type']]).to.deep.equal([expected.body, expected.type]);
      });

    it('GET is the method by default, and an answer without a body has null as data', async () => {
      expect((await run('request', { url: `${url}/204` })).value).to.include({ status: 204, data: null });
      expect(requests[0]?.method).to.equal('GET');
    });

    for (const status of [400, 404, 500])
      it(`an answer ${status} rejects with the same shape`, async () => {
        const { value, isResolved } = await run('request', { url: `${url}/${status}` });
        expect(isResolved).to.equal(false);
        expect(value).to.deep.include({ status, data: { status } });
        expect(value).to.include.keys('statusText', 'headers');
      });

    it('an address without a server rejects with a message', async () => {
      const { value, isResolved } = await run('request', { url: 'http://127.0.0.1:1/' });
      expect(isResolved).to.equal(false);
      expect(value).to.include.keys('name', 'message');
    });
  });

  describe('mail', () => {
    const send = async (options: object) => {
      const before = mails.received.length;
      const { value, isResolved } = await run('mail', { subject: 's', ...options });
      expect([value, isResolved]).to.deep.equal([null, true]);
      return until(() => mails.received.length > before && mails.received.at(-1));
    };

    it('goes to all of "to", "cc" and "bcc", lists or texts with commas, and shows no "bcc"', async () => {
      const { to, source } = await send({
        to: 'a@example.com, b@example.com',
        cc: ['c@example.com'],
        bcc: 'd@example.com',
        body: 'x',
      });
      expect(to).to.have.members(['a', 'b', 'c', 'd'].map((one) => `${one}@example.com`));
      expect(source).to.include('c@example.com').and.not.include('d@example.com');
    });

    it('has "replyTo" and "fromName"', async () => {
      const { source } = await send({ to: 'a@example.com', replyTo: 'r@example.com', fromName: 'The Shop', body: 'x' });
      expect(source).to.match(/^reply-to: r@example\.com/im);
      expect(source).to.match(/^from: .*The Shop/im);
    });

    it('has the data of a template', async () => {
      const { source } = await send({
        to: 'a@example.com',
        type: 'template',
        template: 'base',
        data: { html: '<p>by {{ $trigger.body.t }}</p>' },
      });
      expect(source).to.include('by text');
    });
  });

  describe('notification', () => {
    it('has subject, message, collection and item, one for each recipient, with the rights of "permissions"', async () => {
      const me = (await admin('GET', '/users/me')).body.data.id;
      const other = await createTestUserAccount(service, await makeRole(service));
      const options = { recipient: [me, other.id], subject: 's', message: 'm', collection: 'tags', item: 1 };
      const { value } = await run('notification', options);
      expect(value).to.have.length(2);
      const { body } = await admin('GET', `/notifications/${value[0]}`);
      expect(body.data).to.include({ subject: 's', message: 'm', collection: 'tags', item: '1', sender: me });
      expect((await run('notification', options, other.ask)).isResolved).to.equal(false);
      expect((await run('notification', { ...options, permissions: '$full' }, other.ask)).isResolved).to.equal(true);
      expect((await run('notification', { ...options, recipient: `${me},${other.id}` })).value).to.have.length(2);
    });
  });

  describe('trigger', () => {
    for (const [title, options, payload, expected] of [
      ['without "return" the last value', {}, '{"a":1}', { got: { a: 1 } }],
      ['the key of an operation', { return: 'first' }, { a: 2 }, 'one'],
      ['a text that is no JSON as payload', {}, 'plain', { got: 'plain' }],
      ['no payload as null', {}, undefined, { got: null }],
      ['a list in the JSON text', {}, '[1,2]', [{ got: 1 }, { got: 2 }]],
      ['an empty list', {}, [], []],
    ] as const)
      it(`gives ${title}`, async () => {
        const flow = await createTestFlow(admin, {
          trigger: 'operation',
          options,
          steps: [
            { key: 'first', type: 'transform', options: { json: '"one"' } },
            { key: 'second', type: 'transform', options: { json: { got: '{{ $trigger }}' } } },
          ],
        });
        expect((await run('trigger', { flow, payload })).value).to.deep.equal(expected);
      });

    it('an inner flow has the rights of the caller of the outer one', async () => {
      const flow = await createTestFlow(admin, {
        trigger: 'operation',
        options: { return: '$accountability' },
        steps: [{ key: 'ok', type: 'log' }],
      });
      const user = await createTestUserAccount(service, await makeRole(service));
      expect((await run('trigger', { flow }, user.ask)).value).to.include({ user: user.id, admin: false });
    });
  });

  it('"emitEvents" decides whether a write is an event for flows', async () => {
    await createTestFlow(admin, {
      trigger: 'event',
      options: { type: 'filter', scope: ['items.create'], collections: ['tags'], return: '$last' },
      steps: [{ key: 'x', type: 'transform', options: { json: { name: 'changed' } } }],
    });
    for (const [emitEvents, expected] of [
      [undefined, 'own'],
      [false, 'own'],
      [true, 'changed'],
    ] as const) {
      const { value } = await run('item-create', onTags({ payload: { name: 'own' }, emitEvents }));
      const [row] = await service.database.query('select name from tags where id = $1', [value[0]]);
      expect(row, String(emitEvents)).to.deep.equal({ name: expected });
    }
  });

  it('log writes a line at info with the flow and the operation, and without secrets', async () => {
    const id = await createWebhook(admin, [
      { key: 'line', type: 'log', options: { message: 'seen {{ $trigger.body.password }} {{ $trigger.body.t }}' } },
    ]);
    await admin('POST', `/flows/trigger/${id}`, { password: 'hunter2hunter2', t: 'text' });
    const [line] = service.log.filter(({ flow }) => flow === id);
    expect(line).to.include({ step: 'line', msg: 'seen --redact-- text' });
  });
});
