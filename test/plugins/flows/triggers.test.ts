import { expect } from 'chai';
import { type HttpReply, type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../users/test-users.ts';
import { createTestFlow, createWebhook } from './flow-fixture.ts';

const FORBIDDEN = [403, 'FORBIDDEN'];
const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: {} };
const echo = (json: unknown) => [{ key: 'echo', type: 'transform', options: { json } }] as const;
const statusAndBodyOf = ({ status, body }: HttpReply) => [status, body];

describe('triggers of flows', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let anonymous: SendAsUser;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    anonymous = createUserSender(service, null);
    for (const collection of ['tags', 'notes'])
      await admin('POST', '/collections', { collection, schema: {}, fields: [key, name] });
  });
  after(() => service?.stop());
  afterEach(async () => {
    await admin('DELETE', '/flows', { query: { limit: -1 } });
    await service.database.query('truncate tags, notes restart identity');
  });

  describe('webhook', () => {
    const trigger = (id: string, method = 'POST', body?: unknown, query = '') =>
      anonymous(method, `/flows/trigger/${id}${query}`, body);

    it('the chain receives path, query, body, method and headers', async () => {
      const stored = await createWebhook(admin, [
        { key: 'all', type: 'transform', options: { json: { got: '{{ $trigger }}' } } },
      ]);
      const { body } = await service.request('POST', `/flows/trigger/${stored}?a=1&b[]=2`, {
        body: { text: 'x' },
        headers: { 'X-Own': 'Yes' },
      });
      expect(body.got).to.include({ path: `/trigger/${stored}`, method: 'POST' });
      expect(body.got.query).to.deep.equal({ a: '1', b: ['2'] });
      expect(body.got.body).to.deep.equal({ text: 'x' });
      expect(body.got.headers).to.include({ 'x-own': 'Yes', 'content-type': 'application/json' });
    });

    it('only the method of the flow triggers it, GET by default', async () => {
      const get = await createTestFlow(admin, { trigger: 'webhook', options: {}, steps: echo({ a: 1 }) });
      expect(statusAndBodyOf(await trigger(get, 'GET'))).to.deep.equal([200, { a: 1 }]);
      expect(statusAndCodeOf(await trigger(get, 'POST', {}))).to.deep.equal(FORBIDDEN);
      const post = await createWebhook(admin, echo({ a: 2 }));
      expect(statusAndBodyOf(await trigger(post, 'POST', {}))).to.deep.equal([200, { a: 2 }]);
      expect(statusAndCodeOf(await trigger(post, 'GET'))).to.deep.equal(FORBIDDEN);
    });

    it('a flow that is missing, inactive or of another trigger is FORBIDDEN, and an id that is no UUID is unknown', async () => {
      const inactive = await createTestFlow(admin, { trigger: 'webhook', status: 'inactive', steps: echo({}) });
      const schedule = await createTestFlow(admin, { trigger: 'schedule', steps: echo({}) });
      const operation = await createTestFlow(admin, { trigger: 'operation', steps: echo({}) });
      const event = await createTestFlow(admin, { trigger: 'event', steps: echo({}) });
      for (const id of [inactive, schedule, operation, event, '11111111-2222-4333-8444-555555555555'])
        for (const method of ['GET', 'POST'])
          expect(statusAndCodeOf(await trigger(id, method, method === 'GET' ? undefined : {})), id).to.deep.equal(
            FORBIDDEN,
          );
      expect(statusAndCodeOf(await trigger('nothing', 'GET'))).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      expect(statusAndCodeOf(await admin('PATCH', `/flows/trigger/${event}`, {}))[0]).to.be.oneOf([404, 405]);
    });

    for (const [title, json, expected] of [
      ['an object', { a: [1] }, [200, { a: [1] }]],
      ['a list', [1, 'x'], [200, [1, 'x']]],
      ['a number', '7', [200, 7]],
      ['a text in JSON', '"x"', [200, 'x']],
      ['true', 'true', [200, true]],
      ['null', 'null', [204, undefined]],
      ['an empty text', '""', [204, undefined]],
    ] as const)
      it(`a flow that gives ${title} answers ${expected[0]} with the value itself`, async () => {
        const id = await createWebhook(admin, echo(json));
        const reply = await trigger(id, 'POST', {});
        expect([reply.status, reply.status === 204 ? undefined : reply.body]).to.deep.equal(expected);
      });

    it('"return" chooses the key of an operation, a path, or all data of the run', async () => {
      const steps = [
        { key: 'one', type: 'transform', options: { json: { a: { b: 1 } } } },
        { key: 'two', type: 'transform', options: { json: { c: 2 } } },
      ];
      const answerOf = async (back: unknown) => {
        const id = await createWebhook(admin, steps, { return: back });
        return (await trigger(id, 'POST', { x: 1 })).body;
      };
      expect(await answerOf(undefined)).to.deep.equal({ c: 2 });
      expect(await answerOf('one')).to.deep.equal({ a: { b: 1 } });
      expect(await answerOf('one.a')).to.deep.equal({ b: 1 });
      const all = await answerOf('$all');
      expect(all).to.include.keys('$trigger', '$last', '$accountability', '$env', 'one', 'two');
      expect(all.one).to.deep.equal({ a: { b: 1 } });
    });

    it('a chain that ends in a failure answers 200 with the failure, or its error with "error_on_reject"', async () => {
      const steps = [{ key: 'no', type: 'throw-error', options: { code: 'MINE', status: 418, message: 'no' } }];
      const id = await createWebhook(admin, steps);
      const reply = await trigger(id, 'POST', {});
      expect(reply.status).to.equal(200);
      expect(reply.body).to.include({ message: 'no', code: 'MINE', status: 418 });
      const strict = await createWebhook(admin, steps, { error_on_reject: true });
      expect(statusAndCodeOf(await trigger(strict, 'POST', {}))).to.deep.equal([418, 'MINE']);
    });

    it('"async" answers 204 at once, and the chain runs', async () => {
      const steps = [
        {
          key: 'make',
          type: 'item-create',
          options: { collection: 'tags', payload: { name: '{{ $trigger.body.name }}' }, permissions: '$full' },
        },
      ];
      const id = await createWebhook(admin, steps, { async: true });
      expect((await trigger(id, 'POST', { name: 'later' })).status).to.equal(204);
      await until(
        async () => (await service.database.query<{ name: string }>('select name from tags'))[0]?.name === 'later',
      );
    });

    it('the chain has the permissions of the caller', async () => {
      const steps = [{ key: 'read', type: 'item-read', options: { collection: 'tags' } }];
      const id = await createWebhook(admin, steps, { error_on_reject: true });
      expect(statusAndCodeOf(await trigger(id, 'POST', {}))).to.deep.equal(FORBIDDEN);
      expect((await admin('POST', `/flows/trigger/${id}`, {})).status).to.equal(200);
    });
  });

  describe('manual', () => {
    const steps = echo('{{ $trigger.body }}');

    it('a user triggers it for readable rows of its collections, and the answer is what the chain gives last', async () => {
      const role = await makeRole(service, {}, [
        { collection: 'tags', action: 'read', permissions: { id: { _lt: 3 } } },
      ]);
      const user = await createTestUserAccount(service, role);
      for (const one of ['a', 'b', 'c']) await admin('POST', '/items/tags', { name: one });
      const id = await createTestFlow(admin, {
        trigger: 'manual',
        options: { collections: ['tags'] },
        steps: [{ key: 'echo', type: 'transform', options: { json: { got: '{{ $trigger.body }}' } } }],
      });
      const send = (ask: SendAsUser, body: unknown, method = 'POST') => ask(method, `/flows/trigger/${id}`, body);
      const reply = await send(user.ask, { collection: 'tags', keys: [1, 2], reason: 'why' });
      expect(statusAndBodyOf(reply)).to.deep.equal([200, { got: { collection: 'tags', keys: [1, 2], reason: 'why' } }]);
      const refused: readonly (readonly [string, SendAsUser, unknown, string?])[] = [
        ['without a token', anonymous, { collection: 'tags', keys: [1] }],
        ['without a collection', user.ask, { keys: [1] }],
        ['for another collection', admin, { collection: 'notes', keys: [1] }],
        ['without keys', user.ask, { collection: 'tags' }],
        ['with an empty list of keys', user.ask, { collection: 'tags', keys: [] }],
        ['with a row that the user may not read', user.ask, { collection: 'tags', keys: [1, 3] }],
        ['with a row that does not exist', admin, { collection: 'tags', keys: [99] }],
        ['with a key of another type', admin, { collection: 'tags', keys: ['x'] }],
        ['with keys that are no list', admin, { collection: 'tags', keys: 1 }],
        ['by GET', admin, undefined, 'GET'],
      ];
      for (const [title, ask, body, method] of refused)
        expect(statusAndCodeOf(await send(ask, body, method)), title).to.deep.equal(FORBIDDEN);
    });

    it('without "requireSelection" it needs no keys, but a readable collection', async () => {
      const id = await createTestFlow(admin, {
        trigger: 'manual',
        options: { collections: ['tags'], requireSelection: false },
        steps,
      });
      const powerless = await createTestUserAccount(service, await makeRole(service));
      const body = { collection: 'tags' };
      expect((await admin('POST', `/flows/trigger/${id}`, body)).status).to.equal(200);
      expect(statusAndCodeOf(await powerless.ask('POST', `/flows/trigger/${id}`, body))).to.deep.equal(FORBIDDEN);
    });

    it('without collections nothing triggers it', async () => {
      const id = await createTestFlow(admin, { trigger: 'manual', options: { requireSelection: false }, steps });
      expect(statusAndCodeOf(await admin('POST', `/flows/trigger/${id}`, { collection: 'tags' }))).to.deep.equal(
        FORBIDDEN,
      );
    });
  });

  describe('event', () => {
    const filter = (options: object) => ({
      trigger: 'event',
      options: { type: 'filter', collections: ['tags'], ...options },
    });
    const rows = () => service.database.query<{ name: string }>('select name from tags order by id');

    it('a filter flow with "return" replaces the payload of each created row', async () => {
      const steps = echo({ name: 'new {{ $trigger.payload.name }}' });
      await createTestFlow(admin, { ...filter({ scope: ['items.create'], return: '$last' }), steps });
      await admin('POST', '/items/tags', [{ name: 'a' }, { name: 'b' }]);
      await admin('POST', '/items/notes', { name: 'c' });
      expect(await rows()).to.deep.equal([{ name: 'new a' }, { name: 'new b' }]);
      expect(await service.database.query('select name from notes')).to.deep.equal([{ name: 'c' }]);
    });

    it('a filter flow without "return", or whose return is null, keeps the payload', async () => {
      for (const back of [undefined, '$last']) {
        const id = await createTestFlow(admin, {
          ...filter({ scope: ['items.create'], return: back }),
          steps: [{ key: 'log', type: 'log', options: { message: 'x' } }],
        });
        expect((await admin('POST', '/items/tags', { name: 'kept' })).body.data.name).to.equal('kept');
        await admin('DELETE', `/flows/${id}`);
      }
    });

    it('a filter flow that ends in a failed condition refuses the write with the rules that do not hold', async () => {
      const rule = { $trigger: { payload: { name: { _eq: 'good' } } } };
      await createTestFlow(admin, {
        ...filter({ scope: ['items.create'] }),
        steps: [{ key: 'check', type: 'condition', options: { filter: rule } }],
      });
      const reply = await admin('POST', '/items/tags', { name: 'bad' });
      expect(statusAndCodeOf(reply)).to.deep.equal([400, 'FAILED_VALIDATION']);
      expect(reply.body.errors[0].extensions).to.include({ field: '$trigger', type: 'eq', valid: 'good' });
      expect(reply.body.errors[0].extensions.path).to.deep.equal(['payload', 'name']);
      expect((await admin('POST', '/items/tags', { name: 'good' })).status).to.equal(200);
      expect(await rows()).to.deep.equal([{ name: 'good' }]);
    });

    it('a filter flow writes in the transaction of the write that it listens to', async () => {
      await createTestFlow(admin, {
        ...filter({ scope: ['items.create'] }),
        steps: [
          { key: 'note', type: 'item-create', options: { collection: 'notes', payload: { name: 'n' } } },
          { key: 'no', type: 'throw-error', options: { code: 'NO', status: 409, message: 'no' } },
        ],
      });
      expect(statusAndCodeOf(await admin('POST', '/items/tags', { name: 'a' }))).to.deep.equal([409, 'NO']);
      expect(await service.database.query('select * from notes')).to.deep.equal([]);
    });

    it('an action flow sees event, payload, key or keys, and collection', async () => {
      await createTestFlow(admin, {
        trigger: 'event',
        options: { type: 'action', scope: ['items.create', 'items.update', 'items.delete'], collections: ['tags'] },
        steps: [
          {
            key: 'note',
            type: 'item-create',
            options: { collection: 'notes', payload: { name: 'event {{ $trigger }}' }, permissions: '$full' },
          },
        ],
      });
      await admin('POST', '/items/tags', { name: 'a' });
      await admin('PATCH', '/items/tags/1', { name: 'b' });
      await admin('DELETE', '/items/tags/1');
      const seen = async () =>
        (await service.database.query<{ name: string }>('select name from notes')).map((one) =>
          JSON.parse(one.name.slice('event '.length)),
        );
      await until(async () => (await seen()).length === 3);
      const byEvent = Object.fromEntries((await seen()).map((one) => [one.event, one]));
      expect(byEvent['tags.items.create']).to.deep.include({ payload: { name: 'a' }, key: 1, collection: 'tags' });
      expect(byEvent['tags.items.update']).to.deep.include({ payload: { name: 'b' }, keys: [1], collection: 'tags' });
      expect(byEvent['tags.items.delete']).to.deep.include({ keys: [1], collection: 'tags' });
      expect(Object.keys(byEvent['tags.items.create'])).to.not.include('caller');
    });

    it('a flow may listen to system collections and other events', async () => {
      const note = (text: string) => [
        {
          key: 'note',
          type: 'item-create',
          options: { collection: 'notes', payload: { name: text }, permissions: '$full' },
        },
      ];
      await createTestFlow(admin, {
        trigger: 'event',
        options: { type: 'action', scope: ['items.create'], collections: ['platform_folders'] },
        steps: note('folder'),
      });
      await createTestFlow(admin, {
        trigger: 'event',
        options: { type: 'action', scope: ['auth.login'] },
        steps: note('login {{ $trigger.status }}'),
      });
      await admin('POST', '/folders', { name: 'f' });
      await anonymous('POST', '/auth/login', { email: service.admin.email, password: service.admin.password });
      const names = async () =>
        (await service.database.query<{ name: string }>('select name from notes order by name')).map((one) => one.name);
      await until(async () => (await names()).length === 2);
      expect(await names()).to.deep.equal(['folder', 'login success']);
    });

    it('a write of a flow triggers no flow, unless its operation emits events', async () => {
      const make = (emitEvents: boolean) =>
        createTestFlow(admin, {
          trigger: 'event',
          options: { type: 'action', scope: ['items.create'], collections: ['tags'] },
          steps: [
            {
              key: 'again',
              type: 'item-create',
              options: { collection: 'tags', payload: { name: 'more' }, emitEvents },
            },
          ],
        });
      await make(false);
      await admin('POST', '/items/tags', { name: 'first' });
      await until(async () => (await rows()).length === 2);
      await admin('POST', '/items/notes', { name: 'x' });
      expect((await rows()).length).to.equal(2);
      await admin('DELETE', '/flows', { query: { limit: -1 } });
      await make(true);
      await admin('POST', '/items/tags', { name: 'first' });
      // The flow triggers itself until its nesting is refused.
      await until(async () => (await rows()).length > 4);
      const length = async () => (await rows()).length;
      let before = -1;
      await until(async () => {
        const now = await length();
        const isStill = now === before;
        before = now;
        return isStill;
      });
      expect(before).to.be.below(20);
    });

    it('a change of a flow counts for the next write', async () => {
      const steps = echo({ name: 'changed' });
      const id = await createTestFlow(admin, { ...filter({ scope: ['items.create'], return: '$last' }), steps });
      const nameOf = async () => (await admin('POST', '/items/tags', { name: 'own' })).body.data.name;
      expect(await nameOf()).to.equal('changed');
      await admin('PATCH', `/flows/${id}`, { status: 'inactive' });
      expect(await nameOf()).to.equal('own');
      await admin('PATCH', `/flows/${id}`, { status: 'active' });
      expect(await nameOf()).to.equal('changed');
      await admin('DELETE', `/flows/${id}`);
      expect(await nameOf()).to.equal('own');
    });
  });

  it('a scheduled flow runs by its cron expression, without a user', async () => {
    await createTestFlow(admin, {
      trigger: 'schedule',
      options: { cron: '* * * * * *' },
      steps: [
        {
          key: 'note',
          type: 'item-create',
          options: { collection: 'notes', payload: { name: 'tick {{ $accountability }} {{ $trigger }}' } },
        },
      ],
    });
    await until(async () => (await service.database.query('select 1 from notes')).length > 0);
    expect((await service.database.query<{ name: string }>('select name from notes'))[0]?.name).to.equal(
      'tick null null',
    );
  });

  it('an expression that is no cron expression schedules nothing and breaks nothing', async () => {
    await createTestFlow(admin, { trigger: 'schedule', options: { cron: 'never' }, steps: echo({}) });
    expect((await admin('GET', '/flows')).status).to.equal(200);
  });

  it('flows and operations are for admins, by REST and GraphQL', async () => {
    const user = await createTestUserAccount(service, await makeRole(service, { app_access: true }));
    for (const path of ['/flows', '/operations'])
      for (const method of ['GET', 'POST'])
        expect(statusAndCodeOf(await user.ask(method, path, method === 'POST' ? {} : undefined)), path).to.deep.equal(
          FORBIDDEN,
        );
    const query = 'mutation { create_flows_item(data: { name: "by graphql", trigger: "webhook" }) { id name status } }';
    const { body } = await admin('POST', '/graphql/system', { query });
    expect(body.data.create_flows_item).to.include({ name: 'by graphql', status: 'active' });
    const listed = await admin('POST', '/graphql/system', {
      query: '{ flows { name operations { key } } operations { key } }',
    });
    expect(listed.body.data.flows).to.deep.include({ name: 'by graphql', operations: [] });
    expect(
      (await user.ask('POST', '/graphql/system', { query: '{ flows { name } }' })).body.errors,
    ).to.have.length.above(0);
  });

  it('an editor stores a flow with its operations at once, and a removed operation is deleted', async () => {
    const created = await admin('POST', '/flows?fields=*,operations.*', {
      name: 'nested',
      trigger: 'manual',
      operations: [
        { key: 'a', type: 'log', position_x: 1, position_y: 2, options: {} },
        { key: 'b', type: 'log' },
      ],
    });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    const { id, operations } = created.body.data;
    expect(operations.map((one: { key: string }) => one.key)).to.have.members(['a', 'b']);
    const a = operations.find((one: { key: string }) => one.key === 'a');
    await admin('PATCH', `/flows/${id}`, {
      operations: [{ id: a.id, resolve: { key: 'c', type: 'log', flow: id } }],
    });
    const { body } = await admin('GET', `/operations?filter[flow][_eq]=${id}&sort=key&fields=key,resolve.key`);
    expect(body.data.map((one: { key: string }) => one.key)).to.include('a');
    expect(body.data.map((one: { key: string }) => one.key)).to.not.include('b');
    await admin('DELETE', `/flows/${id}`);
    expect((await admin('GET', `/operations?filter[flow][_eq]=${id}`)).body.data).to.deep.equal([]);
  });
});
