import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../users/test-users.ts';
import { createTestFlow, createWebhook } from './flow-fixture.ts';

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: {} };

describe('runs of flows', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    await admin('POST', '/collections', { collection: 'tags', schema: {}, fields: [key, name] });
  });
  after(() => service?.stop());

  it('GET /flows/<id>/runs lists ended runs, the latest first, page by page', async () => {
    const id = await createWebhook(admin, [
      { key: 'check', type: 'condition', options: { filter: { $trigger: { body: { ok: { _eq: true } } } } } },
    ]);
    for (const ok of [true, false, true]) await admin('POST', `/flows/trigger/${id}`, { ok });
    const { body } = await admin('GET', `/flows/${id}/runs`);
    expect(body.meta).to.deep.equal({ total_count: 3 });
    expect(body.data.map((one: { status: string }) => one.status)).to.deep.equal(['resolve', 'reject', 'resolve']);
    const [, failed] = body.data;
    expect(failed.step).to.equal('check');
    expect(failed.error[0].code).to.equal('FAILED_VALIDATION');
    expect((await admin('GET', `/activity/${failed.activity}`)).body.data).to.include({ action: 'run', item: id });
    expect((await admin('GET', `/flows/${id}/runs?limit=1&page=2`)).body.data).to.deep.equal([failed]);
    expect(statusAndCodeOf(await admin('GET', `/flows/${id}/runs?limit=x`))).to.deep.equal([400, 'INVALID_QUERY']);
  });

  it('a flow without accountability keeps no runs, and runs are for callers who may read the flow', async () => {
    const id = await createTestFlow(admin, {
      trigger: 'webhook',
      accountability: null,
      options: { method: 'POST' },
      steps: [{ key: 'a', type: 'log' }],
    });
    await admin('POST', `/flows/trigger/${id}`, {});
    expect((await admin('GET', `/flows/${id}/runs`)).body.data).to.deep.equal([]);
    const user = await createTestUserAccount(service, await makeRole(service));
    for (const ask of [user.ask, createUserSender(service, null)])
      expect(statusAndCodeOf(await ask('GET', `/flows/${id}/runs`))).to.deep.equal([403, 'FORBIDDEN']);
  });

  describe('POST /flows/<id>/try', () => {
    const steps = [
      { key: 'make', type: 'item-create', options: { collection: 'tags', payload: { name: '{{ $trigger.name }}' } } },
      { key: 'read', type: 'item-read', options: { collection: 'tags' } },
      {
        key: 'call',
        type: 'request',
        options: {
          method: 'POST',
          url: 'http://example.com/',
          headers: [{ header: 'Authorization', value: 'Bearer abcdefgh' }],
        },
      },
      { key: 'end', type: 'transform', options: { json: { n: '{{ read[0].name }}' } } },
    ];

    it('says what would happen, and changes nothing', async () => {
      const id = await createTestFlow(admin, { trigger: 'operation', status: 'inactive', steps });
      const { status, body } = await admin('POST', `/flows/${id}/try`, { trigger: { name: 'tried' } });
      expect(status, JSON.stringify(body)).to.equal(200);
      const { data } = body;
      expect(data.status).to.equal('resolve');
      expect(data.return).to.deep.equal({ n: 'tried' });
      expect(data.steps.map((one: { key: string }) => one.key)).to.deep.equal(['make', 'read', 'call', 'end']);
      expect(data.effects).to.have.length(1);
      expect(data.effects[0]).to.include({ type: 'request', step: 'call' });
      expect(data.changes).to.have.length(1);
      expect(data.changes[0]).to.include({ action: 'create', collection: 'tags' });
      expect(JSON.stringify(body)).to.not.include('abcdefgh');
      expect(await service.database.query('select * from tags')).to.deep.equal([]);
      expect((await admin('GET', `/activity?filter[collection][_eq]=tags`)).body.data).to.deep.equal([]);
      expect((await admin('GET', `/flows/${id}/runs`)).body.data).to.deep.equal([]);
    });

    it('is for admins, and for flows that exist', async () => {
      const id = await createTestFlow(admin, { trigger: 'operation', steps });
      const user = await createTestUserAccount(service, await makeRole(service));
      expect(statusAndCodeOf(await user.ask('POST', `/flows/${id}/try`, {}))).to.deep.equal([403, 'FORBIDDEN']);
      for (const unknown of ['11111111-2222-4333-8444-555555555555', 'x'])
        expect(statusAndCodeOf(await admin('POST', `/flows/${unknown}/try`, {}))).to.deep.equal([403, 'FORBIDDEN']);
    });
  });
});
