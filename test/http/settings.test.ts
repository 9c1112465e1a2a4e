import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import { captureError } from '../support/test-plugins.ts';

const TOKEN = 'a-static-token-of-the-first-admin';

describe('settings of a first start and of pages', function () {
  this.timeout(120_000);
  let service: InProcessService;
  before(async () => {
    service = await startService({
      env: {
        ADMIN_TOKEN: TOKEN,
        PROJECT_NAME: 'Recipes',
        HASH_LENGTH: '48',
        DB_EXCLUDE_TABLES: 'hidden,other.thing',
        SERVE_APP: 'false',
        CONTENT_SECURITY_POLICY_DIRECTIVES__IMG_SRC: 'https://images.example.com',
        ASSETS_CONTENT_SECURITY_POLICY_DIRECTIVES__FRAME_ANCESTORS: 'https://portal.example.com',
      },
    });
  });
  after(() => service?.stop());

  it('ADMIN_TOKEN is the static token of the first admin', async () => {
    const { status, body } = await service.request('GET', '/users/me?fields=email', { token: TOKEN });
    expect([status, body.data]).to.deep.equal([200, { email: 'admin@example.com' }]);
  });

  it('an ADMIN_TOKEN that can be guessed stops the first start', async () => {
    const error = await captureError<Error & { remedy?: string }>(startService({ env: { ADMIN_TOKEN: 'short' } }));
    expect(error.message).to.match(/ADMIN_TOKEN is too short or too long/);
    expect(error.remedy).to.equal('set it to a random text of 16 to 255 characters, or unset it');
  });

  it('PROJECT_NAME is the name of the project until the settings are changed', async () => {
    const name = async () => (await service.request('GET', '/server/info')).body.data.project.project_name;
    expect(await name()).to.equal('Recipes');
    await service.request('PATCH', '/settings', { token: TOKEN, body: { project_name: 'Menus' } });
    const again = await startService({ database: service.database, env: { PROJECT_NAME: 'Recipes' } });
    try {
      expect((await again.request('GET', '/server/info')).body.data.project.project_name).to.equal('Menus');
    } finally {
      await again.stop();
    }
  });

  it('HASH_LENGTH is the length of password hashes, which are still compared', async () => {
    const [row] = await service.database.query<{ password: string }>('select password from platform_users');
    expect(Buffer.from(String(row?.password).split('$').at(-1) as string, 'base64')).to.have.length(48);
    const { status } = await service.request('POST', '/auth/login', {
      body: { email: service.admin.email, password: service.admin.password },
    });
    expect(status).to.equal(200);
  });

  it('tables of DB_EXCLUDE_TABLES are no collections, and columns that refer to them are plain', async () => {
    await service.database.query(
      'create table hidden (id int primary key); create table shown (id int primary key, hidden_id int references hidden)',
    );
    await service.database.query('insert into hidden values (1); insert into shown values (1, 1)');
    const ask = (path: string) => service.request('GET', path, { token: TOKEN });
    expect((await ask('/items/shown?fields=*')).body.data).to.deep.equal([{ id: 1, hidden_id: 1 }]);
    const [hidden, unknown] = [await ask('/items/hidden'), await ask('/items/unknown')];
    expect([hidden.status, JSON.stringify(hidden.body)]).to.deep.equal([
      404,
      JSON.stringify(unknown.body).replaceAll('unknown', 'hidden'),
    ]);
    expect((await ask('/fields/shown/hidden_id')).body.data.schema.foreign_key_table).to.equal(null);
    expect((await ask('/relations/shown')).body.data).to.deep.equal([]);
    const { data, meta } = (await ask('/collections?meta=*')).body;
    const names = [
      ...data.map((one: { collection: string }) => one.collection),
      ...(meta?.unserved ?? []).map((one: { name: string }) => one.name),
    ];
    expect(names).to.include('shown').and.not.include('hidden');
  });

  it('pages and files have the sources that are added to their policies', async () => {
    const page = await service.request('GET', '/server/specs/oas/page');
    expect(page.headers.get('content-security-policy')).to.match(
      /img-src 'self' data: https:\/\/images\.example\.com;/,
    );
    const form = new FormData();
    form.set('file', new File(['text'], 'a.txt', { type: 'text/plain' }));
    const file = await service.request('POST', '/files', { token: TOKEN, body: form });
    const { headers } = await service.request('GET', `/assets/${file.body.data.id}`, { token: TOKEN });
    expect(headers.get('content-security-policy')).to.match(/frame-ancestors 'self' https:\/\/portal\.example\.com$/);
    expect(headers.get('x-frame-options')).to.equal(null);
  });

  it('SERVE_APP=false serves no page below /admin', async () => {
    for (const path of ['/admin', '/admin/login', '/admin/reset-password'])
      expect((await fetch(`${service.url}${path}`)).status, path).to.equal(404);
  });
});
