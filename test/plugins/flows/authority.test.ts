import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../users/test-users.ts';
import { createTestFlow } from './flow-fixture.ts';

const FORBIDDEN = [403, 'FORBIDDEN'];

/** A role with every permission on flows and operations, which is not an admin. */
describe('authority of flows', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let author: TestUserAccount;
  let flow: string;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    const grants = ['platform_flows', 'platform_operations', 'platform_notifications'].flatMap((collection) =>
      ['create', 'read', 'update', 'delete'].map((action) => ({ collection, action })),
    );
    author = await createTestUserAccount(service, await makeRole(service, {}, grants));
    flow = await createTestFlow(admin, {
      trigger: 'manual',
      options: { collections: ['platform_notifications'], requireSelection: false },
      steps: [{ key: 'roles', type: 'item-read', options: { collection: 'platform_roles', permissions: '$full' } }],
    });
  });
  after(() => service?.stop());

  const created = { name: 'mine', trigger: 'webhook', options: { method: 'GET' } };
  const step = { key: 'a', type: 'item-update', options: { collection: 'platform_users', permissions: '$full' } };
  for (const [method, path, body] of [
    ['POST', '/flows', () => created],
    ['POST', '/flows', () => [created]],
    ['PATCH', (id: string) => `/flows/${id}`, () => ({ status: 'inactive' })],
    ['PATCH', '/flows', (id: string) => ({ keys: [id], data: { name: 'x' } })],
    ['DELETE', (id: string) => `/flows/${id}`, () => undefined],
    ['POST', '/operations', (id: string) => ({ ...step, flow: id })],
    ['PATCH', (id: string) => `/flows/${id}`, () => ({ operations: { create: [step], update: [], delete: [] } })],
  ] as const) {
    const address = (id: string) => (typeof path === 'string' ? path : path(id));
    it(`${method} ${address('<id>')} with ${JSON.stringify(body('<id>'))} is refused to a caller that is no admin`, async () => {
      const reply = await author.ask(method, address(flow), body(flow));
      expect(statusAndCodeOf(reply), JSON.stringify(reply.body)).to.deep.equal(FORBIDDEN);
    });
  }

  it('flows are not imported either', async () => {
    const form = new FormData();
    form.set('file', new Blob([JSON.stringify([created])], { type: 'application/json' }), 'flows.json');
    expect(statusAndCodeOf(await author.ask('POST', '/utils/import/platform_flows', form))).to.deep.equal(FORBIDDEN);
  });

  it('flows are not written by GraphQL either', async () => {
    const query = 'mutation { create_flows_item(data: { name: "x" }) { id } }';
    const { body } = await author.ask('POST', '/graphql/system', { query });
    expect(body.errors?.[0]?.extensions?.code).to.equal('FORBIDDEN');
  });

  it('the flow is as it was, is read by its readers, and is changed by admins', async () => {
    const { body } = await author.ask('GET', '/flows?fields=name,status');
    expect(body.data).to.deep.equal([{ name: 'a flow by manual', status: 'active' }]);
    expect((await admin('PATCH', `/flows/${flow}`, { icon: 'bolt' })).status).to.equal(200);
  });

  it('runs of a flow are for admins, since they hold what operations read with other rights', async () => {
    const triggered = await author.ask('POST', `/flows/trigger/${flow}`, { collection: 'platform_notifications' });
    expect(triggered.status, JSON.stringify(triggered.body)).to.equal(200);
    const { data } = (await admin('GET', `/flows/${flow}/runs`)).body;
    expect(data).to.have.length(1);
    for (const path of [`/flows/${flow}/runs`, `/flows/${flow}/runs/${data[0].id}`])
      expect(statusAndCodeOf(await author.ask('GET', path))).to.deep.equal(FORBIDDEN);
    expect((await admin('GET', `/flows/${flow}/runs/${data[0].id}`)).status).to.equal(200);
  });
});
