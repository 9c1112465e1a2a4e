import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';

describe('flows', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    const fields = [
      { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
      { field: 'name', type: 'string', schema: {} },
    ];
    await admin('POST', '/collections', { collection: 'tags', schema: {}, fields });
  });
  after(() => service?.stop());

  it('a webhook flow answers what its last operation gives', async () => {
    const flow = (await admin('POST', '/flows', { name: 'hook', trigger: 'webhook', options: { method: 'GET' } })).body.data;
    const second = (await admin('POST', '/operations', { flow: flow.id, key: 'second', type: 'transform', options: { json: { echo: '{{ first.a }}', q: 'x{{$trigger.query.q}}y' } } })).body.data;
    const first = (await admin('POST', '/operations', { flow: flow.id, key: 'first', type: 'transform', resolve: second.id, options: { json: '{"a": 5}' } })).body.data;
    expect((await admin('PATCH', `/flows/${flow.id}`, { operation: first.id })).status).to.equal(200);
    const reply = await admin('GET', `/flows/trigger/${flow.id}?q=1`);
    expect([reply.status, reply.body]).to.deep.equal([200, { echo: 5, q: 'x1y' }]);
    const { body } = await admin('GET', `/revisions?filter[collection][_eq]=platform_flows&filter[activity][action][_eq]=run&fields=*,activity.*`);
    console.log(JSON.stringify(body, null, 1));
  });

  it('event flows', async () => {
    const flow = (await admin('POST', '/flows', { name: 'ev', trigger: 'event', options: { type: 'filter', scope: ['items.create'], collections: ['tags'], return: '$last' } })).body.data;
    const first = (await admin('POST', '/operations', { flow: flow.id, key: 'first', type: 'transform', options: { json: { name: 'x {{$trigger.payload.name}}' } } })).body.data;
    await admin('PATCH', `/flows/${flow.id}`, { operation: first.id });
    const reply = await admin('POST', '/items/tags', { name: 'a' });
    expect(reply.body.data.name).to.equal('x a');
  });
});
