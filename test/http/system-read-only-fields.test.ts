import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import { requestAsAdmin } from './test-users.ts';

/** By the path of each system collection: a payload that creates a row. */
const ROWS: Record<string, Record<string, unknown>> = {
  files: { type: 'text/plain' },
  folders: { name: 'a' },
  presets: { collection: 'thing' },
  dashboards: { name: 'a' },
  panels: { dashboard: { name: 'b' }, type: 'label', position_x: 1, position_y: 1, width: 1, height: 1 },
  notifications: { subject: 'a' },
  translations: { key: 'a', language: 'en-US', value: 'b' },
  comments: { collection: 'thing', item: '1', comment: 'a' },
  roles: { name: 'a', app_access: false },
  permissions: { collection: 'thing', action: 'read' },
  users: { email: 'own@example.com' },
};
/** By path: the fields of each collection that only the service sets. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  files: ['filename_disk', 'filesize', 'detected_type', 'uploaded_by', 'uploaded_on', 'created_on', 'modified_by'],
  dashboards: ['date_created', 'user_created'],
  panels: ['date_created', 'user_created'],
  notifications: ['timestamp'],
  comments: ['date_created', 'date_updated', 'user_created'],
  users: ['last_access'],
};

describe('fields of system collections that clients cannot change', () => {
  let service: InProcessService;
  let role: string;
  before(async () => {
    service = await startService();
    await service.database.query('create table thing (id int primary key)');
    await service.database.query('insert into thing values (1)');
    const [admin] = await service.database.query<{ role: string; id: string }>('select id, role from platform_users');
    role = (await requestAsAdmin(service, 'POST', '/roles', { name: 'r', app_access: false })).id;
    ROWS.notifications = { ...ROWS.notifications, recipient: admin?.id };
    ROWS.permissions = { ...ROWS.permissions, role };
  });
  after(() => service?.stop());

  const ask = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });
  const codeOf = ({ body }: { body: { errors?: { extensions: { code: string } }[] } }) =>
    body?.errors?.[0]?.extensions.code;

  for (const path of Object.keys(ROWS)) {
    it(`PATCH /${path} by key, keys or query rejects a change of the id, and accepts the row’s own id`, async () => {
      const created = await requestAsAdmin(service, 'POST', `/${path}`, ROWS[path]);
      const other = typeof created.id === 'number' ? created.id + 1000 : randomUUID();
      const filter = { id: { _eq: created.id } };
      for (const [to, body] of [
        [`/${path}/${created.id}`, { id: other }],
        [`/${path}`, { keys: [created.id], data: { id: other } }],
        [`/${path}`, { query: { filter }, data: { id: other } }],
      ] as const) {
        const reply = await ask('PATCH', to, body);
        expect([reply.status, codeOf(reply)], JSON.stringify(body)).to.deep.equal([400, 'INVALID_PAYLOAD']);
      }
      expect((await ask('PATCH', `/${path}/${created.id}`, { id: created.id })).status).to.equal(200);
      expect((await ask('PATCH', `/${path}`, [{ id: created.id }])).status).to.equal(200);
      const [row] = await service.database.query(`select id from platform_${path} where id = $1`, [created.id]);
      expect(row).to.deep.equal({ id: created.id });
      expect((await ask('DELETE', `/${path}/${created.id}`)).status).to.equal(204);
    });
  }

  it('/settings keeps its id', async () => {
    for (let round = 0; round < 2; round++) {
      await ask('PATCH', '/settings', { id: 7, project_name: 'a' });
      await ask('PATCH', '/settings', { project_name: 'b' });
    }
    expect(await service.database.query('select id from platform_settings')).to.deep.equal([{ id: 1 }]);
  });

  it('GraphQL and nested writes reject another id', async () => {
    const file = await requestAsAdmin(service, 'POST', '/files', { type: 'text/plain', folder: { name: 'f' } });
    const query = `mutation { update_files_item(id: "${file.id}", data: { id: "${randomUUID()}" }) { id } }`;
    const graphql = await ask('POST', '/graphql/system', { query });
    expect(graphql.body.errors).to.have.length(1);
    const nested = await ask('PATCH', `/files/${file.id}`, {
      id: randomUUID(),
      folder: { id: file.folder, name: 'g' },
    });
    expect([nested.status, codeOf(nested)]).to.deep.equal([400, 'INVALID_PAYLOAD']);
    const [folder] = await service.database.query('select name from platform_folders where id = $1', [file.folder]);
    expect(folder).to.deep.equal({ name: 'f' });
  });

  for (const [path, fields] of Object.entries(OWN)) {
    it(`/${path} keeps ${fields.join(', ')} as the service set them`, async () => {
      const created = await requestAsAdmin(service, 'POST', `/${path}`, ROWS[path]);
      const row = async () =>
        (
          await service.database.query(`select ${fields.join(', ')} from platform_${path} where id = $1`, [created.id])
        )[0];
      const before = await row();
      const forged = (name: string) => {
        if (/_(?:on|created|updated|access)$|timestamp/.test(name) && !name.startsWith('user'))
          return '2001-01-01T00:00:00Z';
        if (/_by$|^user_/.test(name)) return null;
        return name === 'filesize' ? 7 : 'forged';
      };
      for (const name of fields) {
        const { status, body } = await ask('PATCH', `/${path}/${created.id}`, { [name]: forged(name) });
        expect(status, JSON.stringify(body)).to.equal(200);
        expect(JSON.stringify(await row()), name).not.to.match(/2001-01-01|forged|:"?7"?[,}]/);
      }
      const after = await row();
      for (const name of fields.filter((one) => /created|uploaded|timestamp|disk|size|access/.test(one)))
        expect(after?.[name], name).to.deep.equal(before?.[name]);
      await ask('DELETE', `/${path}/${created.id}`);
    });
  }
});
