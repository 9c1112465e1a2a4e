import { expect } from 'chai';
import { key } from './rich-schema.ts';
import { type Snapshot, type SnapshotService, startSnapshotService } from './snapshot-fixture.ts';

const ALL = '?with=roles,permissions,flows,dashboards,settings';
const FLOW = '11111111-1111-4111-8111-111111111111';
const [FIRST, SECOND, THIRD] = [1, 2, 3].map((at) => `2222222${at}-2222-4222-8222-222222222222`);
const OTHER_ROLE = '33333333-3333-4333-8333-333333333333';

describe('parts of a snapshot beside the schema', function () {
  this.timeout(120_000);
  let one: SnapshotService;
  let other: SnapshotService;
  const on =
    (service: SnapshotService) =>
    async (method: 'POST' | 'PATCH' | 'GET' | 'DELETE', path: string, body?: unknown): Promise<Snapshot> => {
      const reply = await service.send(method, path, body);
      expect(reply.status, `${path} ${JSON.stringify(reply.body)}`).to.be.lessThan(300);
      return reply.body?.data;
    };

  beforeEach(async () => {
    [one, other] = await Promise.all([startSnapshotService(), startSnapshotService()]);
    const change = on(one);
    await change('POST', '/collections', {
      collection: 'note',
      schema: {},
      fields: [key, { field: 'text', type: 'text' }],
    });
    const role = await change('POST', '/roles', { name: 'Editor', key: 'editor', ip_access: ['10.0.0.0/8'] });
    await change('POST', '/permissions', [
      {
        role: role.id,
        collection: 'note',
        action: 'read',
        permissions: { text: { _nnull: true } },
        fields: ['id', 'text'],
      },
      { role: role.id, collection: 'note', action: 'create', presets: { text: 'new' }, fields: ['*'] },
    ]);
    await change('POST', '/flows', {
      id: FLOW,
      name: 'Announce',
      trigger: 'event',
      options: { type: 'action', scope: ['items.create'], collections: ['note'] },
      operations: [
        {
          id: FIRST,
          key: 'ask',
          type: 'request',
          position_x: 1,
          position_y: 1,
          options: {
            url: 'http://127.0.0.1:1',
            headers: [
              { header: 'Authorization', value: 'Bearer abc' },
              { header: 'Accept', value: 'text/plain' },
            ],
          },
        },
        { id: SECOND, key: 'wait', type: 'sleep', position_x: 2, position_y: 1, options: { milliseconds: 1 } },
        { id: THIRD, key: 'log', type: 'log', position_x: 3, position_y: 1, options: { message: 'x' } },
      ],
    });
    await change('PATCH', `/operations/${FIRST}`, { resolve: SECOND, reject: THIRD });
    await change('PATCH', `/flows/${FLOW}`, { operation: FIRST });
    await change('POST', '/dashboards', {
      name: 'Numbers',
      panels: [{ type: 'metric', position_x: 1, position_y: 1, width: 4, height: 4, options: { collection: 'note' } }],
    });
    await one.database.query(`insert into platform_extension_settings (id, extension, scope, scope_key, key, value) values
      (gen_random_uuid(), 'service-extension-chat', 'global', '', 'room', '"lobby"')`);
  });
  afterEach(async () => {
    await one?.stop();
    await other?.stop();
  });

  it('are left out where they are not asked for, and an unknown one is refused', async () => {
    expect(await one.snapshot()).to.not.have.any.keys('roles', 'permissions', 'flows', 'dashboards', 'settings');
    const { body } = await one.send('GET', '/schema/snapshot?with=users');
    expect(body.errors[0].extensions.code).to.equal('INVALID_QUERY');
  });

  it('come to another service by one apply with their ids and references, and nothing is left to do', async () => {
    const snapshot = await one.snapshot(ALL);
    const reply = await other.become(snapshot);
    expect(reply.status, JSON.stringify(reply.body)).to.equal(204);
    expect(await other.diff(snapshot), JSON.stringify((await other.diff(snapshot))?.diff)).to.equal(undefined);
    const [editor] = await on(other)('GET', '/roles?filter[key][_eq]=editor');
    expect(editor.id).to.equal(snapshot.roles.find((role: Snapshot) => role.key === 'editor').id);
    const permissions = await on(other)('GET', `/permissions?filter[role][_eq]=${editor.id}&sort=action`);
    expect(permissions.map((row: Snapshot) => [row.action, row.fields, row.presets])).to.deep.equal([
      ['create', ['*'], { text: 'new' }],
      ['read', ['id', 'text'], null],
    ]);
    const flow = await on(other)(
      'GET',
      `/flows/${FLOW}?fields=operation,operations.id,operations.resolve,operations.reject`,
    );
    expect(flow.operation).to.equal(FIRST);
    expect(flow.operations).to.deep.include({ id: FIRST, resolve: SECOND, reject: THIRD });
    expect((await other.snapshot('?with=dashboards')).dashboards).to.deep.equal(snapshot.dashboards);
    expect((await other.snapshot('?with=settings')).settings).to.deep.equal(snapshot.settings);
  });

  it('have no secrets: a masked value is not written, and the stored one stays', async () => {
    const snapshot = await one.snapshot('?with=flows');
    const headersOf = (flows: Snapshot) =>
      flows[0].operations.find((operation: Snapshot) => operation.id === FIRST).options.headers;
    expect(headersOf(snapshot.flows)).to.deep.equal([
      { header: 'Authorization', value: '**********' },
      { header: 'Accept', value: 'text/plain' },
    ]);
    expect(JSON.stringify(snapshot)).to.not.contain('abc');
    snapshot.flows[0].operations.find((operation: Snapshot) => operation.id === SECOND).options.milliseconds = 2;
    headersOf(snapshot.flows)[1].value = 'text/html';
    expect((await one.become(snapshot)).status).to.equal(204);
    const operation = await on(one)('GET', `/operations/${FIRST}`);
    expect(operation.options.headers).to.deep.equal([
      { header: 'Authorization', value: '**********' },
      { header: 'Accept', value: 'text/html' },
    ]);
    // A mask without a stored secret behind it would be a problem of the flow.
    expect(await on(one)('GET', `/flows/${snapshot.flows[0].id}/problems`)).to.deep.equal([]);
    expect(operation).to.deep.include({ resolve: SECOND, reject: THIRD });
    expect((await other.become(snapshot)).status).to.equal(204);
    expect((await on(other)('GET', `/operations/${FIRST}`)).options.headers[0]).to.deep.equal({
      header: 'Authorization',
    });
  });

  it('a chain of operations is turned around, and an operation removed', async () => {
    const snapshot = await one.snapshot('?with=flows');
    const [flow] = snapshot.flows;
    flow.operation = SECOND;
    flow.operations = flow.operations
      .filter(({ id }: Snapshot) => id !== THIRD)
      .map((operation: Snapshot) => ({ ...operation, resolve: operation.id === SECOND ? FIRST : null, reject: null }));
    expect((await one.become(snapshot)).status).to.equal(204);
    expect(await one.diff(snapshot)).to.equal(undefined);
    expect((await one.send('GET', `/operations/${THIRD}`)).status).to.equal(403);
  });

  it('a role of another id with the same key stays, and its permissions become those of the snapshot', async () => {
    await on(other)('POST', '/roles', { id: OTHER_ROLE, name: 'Editor', key: 'editor' });
    await on(other)('POST', '/permissions', {
      role: OTHER_ROLE,
      collection: 'platform_files',
      action: 'read',
      fields: ['*'],
    });
    const snapshot = await one.snapshot('?with=roles,permissions');
    expect((await other.become(snapshot)).status).to.equal(204);
    const rows = await on(other)('GET', `/permissions?filter[role][_eq]=${OTHER_ROLE}&sort=action`);
    expect(rows.map((row: Snapshot) => `${row.collection} ${row.action}`)).to.deep.equal(['note create', 'note read']);
    expect(await other.diff(snapshot)).to.equal(undefined);
  });

  it('a failure of a part undoes the changes of the schema', async () => {
    const snapshot = await one.snapshot('?with=permissions');
    const { status, body } = await other.become(snapshot);
    expect(status).to.equal(400);
    expect(body.errors[0].message).to.contain('"editor"');
    expect((await other.snapshot()).collections).to.deep.equal([]);
  });
});
