import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { PageClient } from './page-client.ts';
import { OPEN_SHARE, SHARE, SHARE_PASSWORD, writeStandIns } from './stand-in-routes.ts';

describe('/admin/share/<id>', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let standIns: Awaited<ReturnType<typeof writeStandIns>>;
  before(async () => {
    standIns = await writeStandIns();
    service = await startService({ pluginsBefore: standIns.composition.plugins as URL[] });
    const { request, admin } = service;
    const send = async (method: string, path: string, body: unknown) => {
      const reply = await request(method, path, { token: admin.token, body });
      expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
      return reply.body.data;
    };
    await send('POST', '/collections', {
      collection: 'tune',
      schema: {},
      meta: {},
      fields: [
        { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
        { field: 'title', type: 'string' },
        { field: 'secret', type: 'string' },
        { field: 'extra', type: 'json' },
      ],
    });
    await send('POST', '/items/tune', { title: '<b>So</b> What', secret: 'undisclosed', extra: { '<i>': ['"'] } });
    // The rights of the visitor are those of a user who may read two fields.
    const role = (await send('POST', '/roles', { name: 'visitors', app_access: false })).id;
    const fields = ['id', 'title', 'extra'];
    await send('POST', '/permissions', { role, collection: 'tune', action: 'read', permissions: {}, fields });
    const visitor = { email: 'visitor@example.com', password: 'correct horse' };
    await send('POST', '/users', { ...visitor, role, token: 'static-token-of-a-visitor' });
    standIns.state.shareToken = (await send('POST', '/auth/login', visitor)).access_token;
  });
  beforeEach(() => {
    standIns.state.uses = 0;
    standIns.state.shareItem = '1';
  });
  after(async () => {
    await service?.stop();
    await standIns?.remove();
  });

  const pathOf = (id: string) => `/admin/share/${id}`;
  async function open(client: PageClient, id = SHARE, password = SHARE_PASSWORD) {
    return client.submit(await client.get(pathOf(id)), pathOf(id), { password });
  }

  it('asks for the password, uses the share once, and shows the fields that the share may read as text', async () => {
    const client = new PageClient(service.url);
    const page = await client.get(pathOf(SHARE));
    expect([page.status, page.title, standIns.state.uses]).to.deep.equal([200, 'Shared with you', 0]);
    const opened = await client.submit(page, pathOf(SHARE), { password: SHARE_PASSWORD });
    expect([opened.status, opened.location]).to.deep.equal([303, `./../../admin/share/${SHARE}`]);
    for (let count = 0; count < 2; count++) {
      const item = await client.get(pathOf(SHARE));
      expect([item.status, item.title]).to.deep.equal([200, 'Tune']);
      expect(item.text)
        .to.include('&lt;b&gt;So&lt;/b&gt; What')
        .and.include('&lt;i&gt;')
        .and.not.include('undisclosed');
    }
    expect(standIns.state.uses).to.equal(1);
  });

  it('opens a share without password by a button, since opening the link must use up nothing', async () => {
    const client = new PageClient(service.url);
    const page = await client.get(pathOf(OPEN_SHARE));
    expect(page.text).to.not.include('type="password"');
    expect(standIns.state.uses).to.equal(0);
    await client.submit(page, pathOf(OPEN_SHARE), {});
    expect((await client.get(pathOf(OPEN_SHARE))).title).to.equal('Tune');
  });

  it('shows a wrong password as 401 at its field', async () => {
    const reply = await open(new PageClient(service.url), SHARE, 'wrong');
    expect([reply.status, reply.problem]).to.deep.equal([
      401,
      'The password is not right, or the share was opened too often.',
    ]);
    expect(reply.text).to.include('href="#password"').and.not.include('value="wrong"');
  });

  it('leaves the session of a signed-in user alone', async () => {
    const client = new PageClient(service.url);
    client.cookies.set('service_refresh_token', 'of-the-user');
    await open(client);
    expect(client.cookies.get('service_refresh_token')).to.equal('of-the-user');
  });

  it('uses the access of one share for no other share', async () => {
    const client = new PageClient(service.url);
    await open(client);
    expect((await client.get(pathOf(OPEN_SHARE))).title).to.equal('Shared with you');
  });

  it('asks again where the access token is not valid any more', async () => {
    const client = new PageClient(service.url);
    await open(client);
    for (const value of [
      `${SHARE}.static-token-of-a-visitor`,
      `${SHARE}.a.b.c`,
      `${SHARE}.`,
      SHARE,
      `${SHARE}.a b`,
      '..',
      '',
    ]) {
      client.cookies.set('service_share', value);
      expect((await client.get(pathOf(SHARE))).title, value).to.equal('Shared with you');
    }
  });

  for (const id of ['b2b0a6a2-0f6a-4a4c-9d34-1c3f5b1f9aff', 'x', '..%2F..%2Fserver%2Finfo', '%3Cscript%3E', "'%22"])
    it(`answers 404 for the share ${id}`, async () => {
      const reply = await new PageClient(service.url).get(pathOf(id));
      expect([reply.status, reply.title]).to.deep.equal([404, 'This share is not available']);
    });

  it('answers 404 where the shared item is gone, and reads no other path by the key of an item', async () => {
    const client = new PageClient(service.url);
    await open(client);
    for (const item of ['999', '../../users/me', '1?fields=secret', '1/../../users', '%2e%2e']) {
      standIns.state.shareItem = item;
      const { status, text } = await client.get(pathOf(SHARE));
      expect([400, 404], item).to.include(status);
      expect(text).to.not.include('visitor@example.com').and.not.include('undisclosed');
    }
  });
});
