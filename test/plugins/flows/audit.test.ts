import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow, createWebhook } from './flow-fixture.ts';

interface Line {
  readonly name: string;
  readonly sentences: readonly string[];
}

describe('flows in the audit', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
  });
  after(() => service?.stop());

  const auditOf = async (flow: string): Promise<Line | undefined> =>
    (await admin('GET', '/extensions/audit')).body.data.may.find((line: Line) => line.name.includes(flow));

  it('a flow is listed with its trigger, and with the collections and addresses that its reachable operations name', async () => {
    const role = '11111111-2222-4333-8444-555555555555';
    const flow = await createWebhook(admin, [
      { key: 'a', type: 'item-read', options: { collection: 'orders', permissions: '$full' } },
      { key: 'b', type: 'item-create', options: { collection: '{{ $trigger.body.name }}', permissions: role } },
      { key: 'c', type: 'request', options: { url: 'https://example.com/hook?token=abcdefgh' } },
      { key: 'd', type: 'request', options: { url: 'https://{{ $trigger.body.host }}/' } },
      { key: 'e', type: 'mail', options: { to: ['ann@example.com', '{{ a[0].mail }}'] } },
      { key: 'f', type: 'exec', options: { code: '' } },
    ]);
    await admin('POST', '/operations', { flow, key: 'apart', type: 'item-delete', options: { collection: 'secrets' } });
    const { name, sentences } = (await auditOf(flow)) as Line;
    expect(name).to.equal(`flow "a flow by webhook" (${flow})`);
    expect(sentences).to.deep.equal([
      `serves POST /flows/trigger/${flow} (as the caller)`,
      'reads orders (with all permissions, as the system)',
      `creates what its data names (with the permissions of the role ${role})`,
      'sends requests to https://example.com, what its data names',
      'sends mail to ann@example.com, what its data names',
      'runs the operation exec',
    ]);
  });

  it('triggers by events and schedules are listed, and an inactive flow is not', async () => {
    const event = { type: 'filter', scope: ['items.create'], collections: ['orders'] };
    const filter = await createTestFlow(admin, { trigger: 'event', options: event, steps: [] });
    expect((await auditOf(filter))?.sentences).to.deep.equal([
      'may change orders.items.create (and may reject, as the acting user)',
    ]);
    const timed = await createTestFlow(admin, { trigger: 'schedule', options: { cron: '0 3 * * *' }, steps: [] });
    expect((await auditOf(timed))?.sentences).to.deep.equal(['runs as system (by the schedule 0 3 * * *)']);
    await admin('PATCH', `/flows/${timed}`, { status: 'inactive' });
    expect(await auditOf(timed)).to.equal(undefined);
  });

  it('what a flow does as the system is counted with its name', async () => {
    const flow = await createWebhook(admin, [
      { key: 'read', type: 'item-read', options: { collection: 'platform_roles', permissions: '$full' } },
    ]);
    await admin('PATCH', `/flows/${flow}`, { name: 'nightly import' });
    for (let time = 0; time < 2; time++) await admin('POST', `/flows/trigger/${flow}`, {});
    const { did } = (await admin('GET', '/extensions/audit')).body.data;
    const counted = did.filter(
      ({ kind, what }: { kind: string; what: string }) =>
        kind === 'system' && what.startsWith('the flow "nightly import":'),
    );
    expect(counted).to.have.length(1);
    expect(counted[0]).to.include({ plugin: '@tenon/flows', count: 2 });
  });
});
