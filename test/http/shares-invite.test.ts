import { expect } from 'chai';
import { readMailContent, startMailServer, type TestMailServer } from '../support/mail-server.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createSharer, createVisitor, prepareShareTables } from './share-fixture.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

describe('POST /shares/invite', function () {
  this.timeout(120_000);
  let server: TestMailServer;
  let service: InProcessService;
  let sharer: TestUserWithToken;
  let share: string;
  before(async () => {
    server = await startMailServer();
    service = await startService({
      env: {
        EMAIL_TRANSPORT: 'smtp',
        EMAIL_SMTP_HOST: '127.0.0.1',
        EMAIL_SMTP_PORT: String(server.port),
        EMAIL_SMTP_IGNORE_TLS: 'true',
        PUBLIC_URL: 'https://shop.example.com/',
      },
    });
    await prepareShareTables(service);
    sharer = await createSharer(service);
    const body = { collection: 'article', item: '1', role: sharer.role, name: 'A <b>draft</b>' };
    share = (await service.request('POST', '/shares', { token: sharer.token, body })).body.data.id;
  });
  after(async () => {
    await service?.stop();
    await server?.stop();
  });

  const invite = (emails: unknown, token: string | undefined = sharer.token, id: unknown = share) =>
    service.request('POST', '/shares/invite', { token: token ?? null, body: { share: id, emails } });
  const codeOf = ({ status, body }: Awaited<ReturnType<typeof invite>>) => [
    status,
    body?.errors?.[0]?.extensions?.code,
  ];

  it('mails the link to each address by itself, once', async () => {
    const { status, body } = await invite(['ann@example.com', 'Bob@example.com', 'bob@example.com']);
    expect([status, body]).to.deep.equal([204, undefined]);
    const mails = await until(() => server.received.length >= 2 && server.received);
    expect(mails.flatMap(({ to }) => to).sort()).to.deep.equal(['ann@example.com', 'bob@example.com']);
    const { html } = readMailContent((mails[0] as (typeof mails)[number]).source);
    expect(html).to.include(`https://shop.example.com/admin/share/${share}`);
    expect(html).to.include('A &lt;b&gt;draft&lt;/b&gt;');
  });

  it('needs a user that may read the share', async () => {
    const other = await createUserWithPermissions(service, []);
    const visitor = await createVisitor(service, { role: sharer.role });
    const emails = ['eve@example.com'];
    for (const token of [other.token, visitor.token, ''])
      expect(codeOf(await invite(emails, token))).to.deep.equal([403, 'FORBIDDEN']);
    expect(codeOf(await invite(emails, sharer.token, '00000000-0000-4000-8000-000000000009'))).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
  });

  for (const [what, emails] of [
    ['no list', 'ann@example.com'],
    ['an empty list', []],
    ['more than 50 addresses', Array.from({ length: 51 }, (_, at) => `a${at}@example.com`)],
    ['a number', [5]],
    ['two addresses in one text', ['ann@example.com, bob@example.com']],
    ['a name before the address', ['Ann <ann@example.com>']],
    ['a line break', ['ann@example.com\r\nBcc: eve@example.com']],
    ['no address', ['ann']],
  ] as const)
    it(`refuses ${what} in "emails" with INVALID_PAYLOAD`, async () => {
      expect(codeOf(await invite(emails))).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });

  it('refuses a share that is no text with INVALID_PAYLOAD', async () => {
    expect(codeOf(await invite(['ann@example.com'], sharer.token, 5))).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });

  it('one address gets ten invitations an hour, from all users, and a refused request sends no mail', async () => {
    const jobs = async () =>
      (
        await service.database.query<{ n: number }>(
          "select count(*)::int as n from platform_share_limits where key like 'invitations to %'",
        )
      )[0]?.n;
    for (let at = 0; at < 10; at++)
      expect((await invite(['full@example.com'], service.admin.token)).status).to.equal(204);
    const before = await jobs();
    const refused = await invite(['another@example.com', 'full@example.com']);
    expect(codeOf(refused)).to.deep.equal([429, 'REQUESTS_EXCEEDED']);
    expect(await jobs()).to.equal(before);
  });

  it('one user invites a hundred addresses an hour', async () => {
    const { token } = await createSharer(service);
    const list = (from: number) => Array.from({ length: 50 }, (_, at) => `many${from + at}@example.com`);
    const statuses = [];
    for (const from of [0, 50, 100]) statuses.push((await invite(list(from), token)).status);
    expect(statuses).to.deep.equal([204, 204, 429]);
    await service.database.query("update platform_share_limits set ends = now() where key like 'invitations %'");
    expect((await invite(['later@example.com'], token)).status).to.equal(204);
    const rows = await service.database.query("select 1 from platform_share_limits where key like 'invitations %'");
    expect(rows).to.have.length(2);
  });

  it('answers INVALID_CONFIG where PUBLIC_URL is no absolute address', async () => {
    const relative = await startService({ env: { EMAIL_TRANSPORT: 'log', PUBLIC_URL: '/' } });
    try {
      await prepareShareTables(relative);
      const { id } = await requestAsAdmin(relative, 'POST', '/shares', { collection: 'article', item: '1' });
      const body = { share: id, emails: ['ann@example.com'] };
      const reply = await relative.request('POST', '/shares/invite', { token: relative.admin.token, body });
      expect(codeOf(reply)).to.deep.equal([503, 'INVALID_CONFIG']);
    } finally {
      await relative.stop();
    }
  });
});
