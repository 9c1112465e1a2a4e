import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createTestUserAccount, createUserSender, makeRole, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow, createWebhook, type TestStep } from './flow-fixture.ts';

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: { is_nullable: true } };

describe('operations of flows', () => {
  let service: InProcessService;
  let mails: TestMailServer;
  let admin: SendAsUser;
  before(async () => {
    mails = await startMailServer();
    service = await startService({
      env: {
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
  });
  afterEach(async () => {
    await admin('DELETE', '/flows', { query: { limit: -1 } });
    await service.database.query('truncate tags restart identity');
  });

  /** What a chain gives, with the value of `wrap` so that null is visible. */
  // biome-ignore lint/suspicious/noExplicitAny: data of a run has any form
  async function run(steps: readonly TestStep[], body: unknown = {}, ask: SendAsUser = admin): Promise<any> {
    const id = await createWebhook(admin, steps, { return: '$all' });
    const reply = await ask('POST', `/flows/trigger/${id}`, body);
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    return reply.body;
  }
  /** The outcome of one operation: what it gives, and whether it resolved. */
  async function outcomeOf(type: string, options: object, body: unknown = {}, ask: SendAsUser = admin) {
    const all = await run(
      [
        { key: 'one', type, options: options as TestStep['options'] },
        { key: 'ok', type: 'transform', options: { json: 'true' } },
      ],
      body,
      ask,
    );
    return [all.one, all.ok === true];
  }
  const codesOf = (value: unknown): unknown => [value].flat().map((one) => (one as { code?: unknown }).code);

  describe('condition', () => {
    const body = { a: 5, b: null, c: ['x'], d: { e: 'deep' }, f: 'Text' };
    const of = (rule: object) => ({ $trigger: { body: rule } });
    for (const [title, filter, holds] of [
      ['_eq that holds', of({ a: { _eq: 5 } }), true],
      ['_eq that does not hold', of({ a: { _eq: 6 } }), false],
      ['_gt and _lt', of({ _and: [{ a: { _gt: 4 } }, { a: { _lt: 6 } }] }), true],
      ['_or with one branch that holds', of({ _or: [{ a: { _eq: 1 } }, { f: { _eq: 'Text' } }] }), true],
      ['_or with a branch of a missing value', { _or: [of({ zz: { _eq: 1 } }), of({ a: { _eq: 5 } })] }, true],
      ['_or without a branch that holds', { _or: [of({ zz: { _eq: 1 } }), of({ a: { _eq: 6 } })] }, false],
      ['_null', of({ b: { _null: true } }), true],
      ['_nnull', of({ b: { _nnull: true } }), false],
      ['a nested path', of({ d: { e: { _starts_with: 'de' } } }), true],
      ['_regex', of({ f: { _regex: '^T.xt$' } }), true],
      ['_in', of({ a: { _in: [1, 5] } }), true],
      ['a missing value', of({ zz: { _neq: 1 } }), false],
      ['a missing value and _null', of({ zz: { _null: true } }), false],
      ['no filter', undefined, true],
      ['a filter as JSON text', JSON.stringify(of({ a: { _eq: 5 } })), true],
      ['an unknown operator', of({ a: { _what: 5 } }), false],
    ] as const)
      it(`${title} ${holds ? 'resolves' : 'rejects'}`, async () => {
        const [value, isResolved] = await outcomeOf('condition', { filter }, body);
        expect(isResolved).to.equal(holds);
        if (holds) expect(value).to.equal(null);
        else expect(codesOf(value)).to.include('FAILED_VALIDATION');
      });
  });

  describe('options', () => {
    for (const [title, json, expected] of [
      ['a text that is one template keeps the type', '{{ $trigger.body.n }}', { n: 1 }],
      ['spaces and brackets are parts of a path', '{{$trigger.body["n"].n}}', 1],
      ['an index of a list', '{{ $trigger.body.list[1].x }}', 2],
      ['objects in a text are JSON', 'got {{ $trigger.body.n }}', 'got {"n":1}'],
      ['an unknown path in a text is the text undefined', 'a{{ $trigger.nothing }}b', 'aundefinedb'],
      ['an unknown path alone is the text undefined', '{{ $trigger.nothing }}', 'undefined'],
      ['members of prototypes are no values', 'a{{ $trigger.constructor.name }}b', 'aundefinedb'],
      [
        'lists and objects are rendered inside',
        [['{{ $last.body.n.n }}'], { k: '{{ $trigger.method }}' }],
        [[1], { k: 'POST' }],
      ],
      ['keys are not rendered', { '{{ $last }}': 1 }, { '{{ $last }}': 1 }],
      ['numbers and booleans stay', { a: 1, b: false, c: null }, { a: 1, b: false, c: null }],
    ] as const)
      it(title, async () => {
        const all = await run([{ key: 'a', type: 'transform', options: { json: { value: json } } }], {
          n: { n: 1 },
          list: [{}, { x: 2 }],
        });
        expect(all.a.value).to.deep.equal(expected);
      });

    it('a text of JSON is parsed after it is rendered', async () => {
      const [value] = await outcomeOf('transform', { json: '{"a": {{ $trigger.body.n }} }' }, { n: 3 });
      expect(value).to.deep.equal({ a: 3 });
    });

    it('a text that is no JSON rejects', async () => {
      const [value, isResolved] = await outcomeOf('transform', { json: '{ no' });
      expect([codesOf(value), isResolved]).to.deep.equal([['INVALID_PAYLOAD'], false]);
    });
  });

  describe('items', () => {
    const rows = () => service.database.query('select * from tags order by id');
    const create = (payload: unknown, more: object = {}) =>
      outcomeOf('item-create', { collection: 'tags', payload, ...more });

    it('item-create gives the new keys, of an object, a list or JSON text, and null without a payload', async () => {
      expect((await create({ name: 'a' }))[0]).to.deep.equal([1]);
      expect((await create([{ name: 'b' }, { name: 'c' }]))[0]).to.deep.equal([2, 3]);
      expect((await create('{"name":"d"}'))[0]).to.deep.equal([4]);
      expect((await create(undefined))[0]).to.equal(null);
      expect(await rows()).to.have.length(4);
    });

    it('item-read gives an object for one key, and a list for several keys or a query', async () => {
      await create([{ name: 'a' }, { name: 'b' }]);
      const read = async (options: object) => (await outcomeOf('item-read', { collection: 'tags', ...options }))[0];
      expect(await read({ key: 1 })).to.deep.equal({ id: 1, name: 'a' });
      expect(await read({ key: '1' })).to.deep.equal({ id: 1, name: 'a' });
      expect(await read({ key: [1, 2] })).to.deep.equal([
        { id: 1, name: 'a' },
        { id: 2, name: 'b' },
      ]);
      expect(await read({ key: '1, 2' })).to.have.length(2);
      expect(await read({ query: { filter: { name: { _eq: 'b' } }, fields: ['id'] } })).to.deep.equal([{ id: 2 }]);
      expect(await read({ query: '{"fields":["name"],"sort":["-id"]}' })).to.deep.equal([{ name: 'b' }, { name: 'a' }]);
      expect(await read({})).to.have.length(2);
    });

    it('item-read of a row that is not there rejects with FORBIDDEN', async () => {
      const [value, isResolved] = await outcomeOf('item-read', { collection: 'tags', key: 99 });
      expect([codesOf(value), isResolved]).to.deep.equal([['FORBIDDEN'], false]);
    });

    it('item-update gives the key or the keys, and null where there is nothing to do', async () => {
      await create([{ name: 'a' }, { name: 'b' }]);
      const update = async (options: object) => (await outcomeOf('item-update', { collection: 'tags', ...options }))[0];
      expect(await update({ key: 1, payload: { name: 'x' } })).to.equal(1);
      expect(await update({ key: [1, 2], payload: '{"name":"y"}' })).to.deep.equal([1, 2]);
      expect(await update({ query: { filter: { id: { _eq: 2 } } }, payload: { name: 'z' } })).to.deep.equal([2]);
      expect(
        await update({
          payload: [
            { id: 1, name: 'p' },
            { id: 2, name: 'q' },
          ],
        }),
      ).to.deep.equal([1, 2]);
      expect(await update({ key: 1 })).to.equal(null);
      expect(await update({ payload: { name: 'n' } })).to.equal(null);
      expect(await rows()).to.deep.equal([
        { id: 1, name: 'p' },
        { id: 2, name: 'q' },
      ]);
      expect(codesOf(await update({ key: 1, query: {}, payload: { name: 'n' } }))).to.deep.equal(['INVALID_PAYLOAD']);
    });

    it('item-delete gives the deleted key or keys, and null without rows to choose', async () => {
      await create([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
      const remove = async (options: object) => (await outcomeOf('item-delete', { collection: 'tags', ...options }))[0];
      expect(await remove({})).to.equal(null);
      expect(await remove({ key: 1 })).to.equal(1);
      expect(await remove({ query: { filter: { name: { _eq: 'c' } } } })).to.deep.equal([3]);
      expect(await rows()).to.deep.equal([{ id: 2, name: 'b' }]);
    });

    it('"permissions" chooses the rights: the caller, all, the Public role, or a role', async () => {
      const reader = await makeRole(service, {}, [{ collection: 'tags', action: 'read', fields: ['name'] }]);
      const user = await createTestUserAccount(service, await makeRole(service));
      await create({ name: 'a' });
      const read = (permissions: unknown) => outcomeOf('item-read', { collection: 'tags', permissions }, {}, user.ask);
      for (const own of [undefined, '', '$trigger']) expect((await read(own))[1], String(own)).to.equal(false);
      expect(await read('$full')).to.deep.equal([[{ id: 1, name: 'a' }], true]);
      expect((await read('$public'))[1]).to.equal(false);
      expect(await read(reader)).to.deep.equal([[{ name: 'a' }], true]);
      expect(codesOf((await read('11111111-2222-4333-8444-555555555555'))[0])).to.deep.equal(['INVALID_PAYLOAD']);
      expect(codesOf((await read('admin'))[0])).to.deep.equal(['INVALID_PAYLOAD']);
    });
  });

  describe('request', () => {
    it('an address of this machine is refused, with a message', async () => {
      const server: Server = createServer((_request, response) => response.end('secret'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const [value, isResolved] = await outcomeOf('request', { url: `http://127.0.0.1:${port}/` });
      server.close();
      expect(isResolved).to.equal(false);
      expect(value).to.include.keys('message', 'code');
    });
    for (const [title, options] of [
      ['an address that is none', { url: 'nothing' }],
      ['another scheme', { url: 'file:///etc/passwd' }],
      ['no address', {}],
      ['a method that is none', { url: 'http://example.com', method: 'A B' }],
      ['a header with a line break', { url: 'http://example.com', headers: [{ header: 'x', value: 'a\r\nb: c' }] }],
      ['a header name that is none', { url: 'http://example.com', headers: [{ header: 'a b', value: 'c' }] }],
    ] as const)
      it(`${title} rejects`, async () => {
        const [value, isResolved] = await outcomeOf('request', options);
        expect([typeof value.message, isResolved]).to.deep.equal(['string', false]);
      });
  });

  describe('mail, notification, log and sleep', () => {
    it('mail is sent after the run, its Markdown as HTML and without HTML of the data', async () => {
      const before = mails.received.length;
      const options = {
        to: ['ann@example.com', 'bob@example.com'],
        subject: 'Hi {{ $trigger.body.who }}',
        body: '**{{ $trigger.body.who }}**',
      };
      expect(await outcomeOf('mail', options, { who: '<b>x</b>' })).to.deep.equal([null, true]);
      await until(() => mails.received.length > before);
      const { to, source } = mails.received.at(-1) as { to: readonly string[]; source: string };
      expect(to).to.have.members(['ann@example.com', 'bob@example.com']);
      expect(source).to.include('<strong>&lt;b&gt;x&lt;/b&gt;</strong>');
    });
    it('mail of the type wysiwyg is HTML, and a template has its data', async () => {
      const before = mails.received.length;
      await outcomeOf('mail', { to: 'c@example.com', subject: 's', type: 'wysiwyg', body: '<i>x</i>' });
      await until(() => mails.received.length > before);
      expect(mails.received.at(-1)?.source).to.include('<i>x</i>');
      expect(codesOf((await outcomeOf('mail', { to: 'no address', subject: 's', body: 'x' }))[0])).to.deep.equal([
        'INVALID_PAYLOAD',
      ]);
      expect(codesOf((await outcomeOf('mail', { subject: 's', body: 'x' }))[0])).to.deep.equal(['INVALID_PAYLOAD']);
    });
    it('notification gives the keys of the notifications', async () => {
      const me = (await admin('GET', '/users/me')).body.data.id;
      const [keys, isResolved] = await outcomeOf('notification', {
        recipient: [me],
        subject: 'n {{ $trigger.method }}',
        message: 'm',
      });
      expect([keys.length, isResolved]).to.deep.equal([1, true]);
      const { body } = await admin('GET', `/notifications/${keys[0]}`);
      expect(body.data).to.include({ subject: 'n POST', message: 'm', recipient: me });
    });
    it('log and sleep give null', async () => {
      expect(await outcomeOf('log', { message: { a: 1 } })).to.deep.equal([null, true]);
      expect(await outcomeOf('sleep', { milliseconds: 1 })).to.deep.equal([null, true]);
      expect(codesOf((await outcomeOf('sleep', { milliseconds: 'x' }))[0])).to.deep.equal(['INVALID_PAYLOAD']);
    });
  });

  describe('trigger', () => {
    const inner = (options: object = {}) =>
      createTestFlow(admin, {
        trigger: 'operation',
        options: { ...options },
        steps: [{ key: 'double', type: 'transform', options: { json: { got: '{{ $trigger }}' } } }],
      });

    it('gives what the flow returns, and one result for each element of a list', async () => {
      const flow = await inner();
      expect((await outcomeOf('trigger', { flow, payload: { a: 1 } }))[0]).to.deep.equal({ got: { a: 1 } });
      for (const more of [{}, { iterationMode: 'serial' }, { iterationMode: 'batch', batchSize: 2 }])
        expect((await outcomeOf('trigger', { flow, payload: [1, 2, 3], ...more }))[0]).to.deep.equal([
          { got: 1 },
          { got: 2 },
          { got: 3 },
        ]);
    });
    it('gives null where the flow is missing, inactive or of another trigger', async () => {
      const webhook = await createWebhook(admin, []);
      for (const flow of [webhook, '11111111-2222-4333-8444-555555555555', undefined])
        expect(await outcomeOf('trigger', { flow })).to.deep.equal([null, true]);
    });
    it('flows that call each other without an end are stopped', async () => {
      const flow = await createTestFlow(admin, { trigger: 'operation', steps: [] });
      const again = await admin('POST', '/operations', { flow, key: 'again', type: 'trigger', options: { flow } });
      await admin('PATCH', `/flows/${flow}`, { operation: again.body.data.id });
      const [value] = await outcomeOf('trigger', { flow });
      expect(JSON.stringify(value)).to.include('call each other');
    });
  });

  describe('json-web-token', () => {
    const secret = 'a secret of the flow';
    it('signs, verifies and decodes', async () => {
      const all = await run([
        { key: 'signed', type: 'json-web-token', options: { operation: 'sign', payload: { a: 1 }, secret } },
        { key: 'verified', type: 'json-web-token', options: { operation: 'verify', token: '{{ signed }}', secret } },
        { key: 'decoded', type: 'json-web-token', options: { operation: 'decode', token: '{{ signed }}' } },
        {
          key: 'foreign',
          type: 'json-web-token',
          options: { operation: 'verify', token: '{{ signed }}', secret: 'another' },
        },
      ]);
      expect(all.verified).to.include({ a: 1 });
      expect(all.decoded).to.include({ a: 1 });
      expect(all.foreign.message).to.equal('invalid signature');
    });
  });

  describe('chains', () => {
    it('a failure goes on at "reject" with the failure as $last', async () => {
      const all = await run([
        { key: 'no', type: 'throw-error', options: { code: 'X', status: 400, message: 'm' } },
        { key: 'caught', type: 'transform', after: 'reject', options: { json: { code: '{{ $last.code }}' } } },
      ]);
      expect(all.caught).to.deep.equal({ code: 'X' });
    });
    it('an operation of an unknown type ends the run with null', async () => {
      const all = await run([
        { key: 'a', type: 'nothing-known', options: {} },
        { key: 'b', type: 'log' },
      ]);
      expect([all.a, 'b' in all]).to.deep.equal([null, false]);
    });
    it('operations that go round are stopped, and the cycle is named', async () => {
      const id = await createWebhook(admin, [
        { key: 'a', type: 'log', options: {} },
        { key: 'b', type: 'log', options: {} },
      ]);
      const { body } = await admin('GET', `/operations?filter[flow][_eq]=${id}`);
      const [a, b] = ['a', 'b'].map(
        (one) => body.data.find((row: { key: string; flow: string; id: string }) => row.key === one).id,
      );
      await admin('PATCH', `/operations/${b}`, { resolve: a });
      // One operation follows one other: that is free, since only the flow names the first.
      const reply = await admin('POST', `/flows/trigger/${id}`, {});
      expect(JSON.stringify(reply.body)).to.include('a → b → a');
    });
    it('an operation that leads nowhere ends the run with a failure', async () => {
      const id = await createWebhook(admin, [{ key: 'a', type: 'log', options: {} }]);
      const other = await createWebhook(admin, [{ key: 'foreign', type: 'log', options: {} }]);
      const { body } = await admin('GET', `/operations?fields=id,key,flow`);
      const idOf = (flow: string) =>
        body.data.find((row: { key: string; flow: string; id: string }) => row.flow === flow).id;
      await admin('PATCH', `/operations/${idOf(id)}`, { resolve: idOf(other) });
      expect(JSON.stringify((await admin('POST', `/flows/trigger/${id}`, {})).body)).to.include(
        'not an operation of the flow',
      );
    });
  });

  describe('history', () => {
    const runs = async (id: string) =>
      (await admin('GET', `/activity?filter[action][_eq]=run&filter[item][_eq]=${id}&fields=*,revisions.*`)).body.data;
    for (const [accountability, activity, revisions] of [
      ['all', 1, 1],
      ['activity', 1, 0],
      [null, 0, 0],
    ] as const)
      it(`accountability ${accountability} keeps ${activity} activity and ${revisions} revision`, async () => {
        const steps = [
          { key: 'a', type: 'throw-error', options: { message: '{{ $trigger.body.x }} {{ $trigger.nothing }}' } },
        ];
        const id = await createTestFlow(admin, {
          trigger: 'webhook',
          accountability,
          options: { method: 'POST' },
          steps,
        });
        await admin('POST', `/flows/trigger/${id}`, { x: 'y' });
        const all = await runs(id);
        expect(all).to.have.length(activity);
        expect(all.flatMap((one: { revisions: unknown[] }) => one.revisions)).to.have.length(revisions);
        if (revisions === 0) return;
        const { steps: stored, data } = all[0].revisions[0].data;
        expect(stored).to.have.length(1);
        expect(stored[0]).to.deep.include({ key: 'a', status: 'reject', missing: ['$trigger.nothing'] });
        expect(data).to.include.keys('$trigger', '$last', '$accountability', '$env', 'a');
      });
  });
});
