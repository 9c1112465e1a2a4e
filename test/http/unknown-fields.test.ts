import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

const TABLES = `
  create table author (id serial primary key, name text, birthday date);
  create table post (id serial primary key, title text, secret_note text, author int references author);
  create table remark (id serial primary key, wording text, post int references post);
`;

async function addAlias(service: InProcessService): Promise<void> {
  await requestAsAdmin(service, 'POST', '/fields/post', {
    field: 'remarks',
    type: 'alias',
    meta: { special: ['o2m'] },
  });
  await requestAsAdmin(service, 'PATCH', '/relations/remark/post', { meta: { one_field: 'remarks' } });
}

describe('unknown fields in a payload', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('unknown_fields');
    await database.query(TABLES);
    service = await startService({ database });
    await addAlias(service);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const refusal = async (method: string, path: string, body: unknown, token = service.admin.token) => {
    const reply = await service.request(method, path, { token, body });
    const [{ message, extensions }] = reply.body.errors;
    return { status: reply.status, code: extensions.code, message, path: extensions.path };
  };

  const pathOf = (name: string) => name.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const CASES: readonly [where: string, method: string, path: string, body: unknown, name: string, meant: string][] = [
    ['a create', 'POST', '/items/post', { titel: 'a' }, 'titel', 'title'],
    ['a list of creates', 'POST', '/items/post', [{ title: 'a' }, { Title: 'b' }], '1.Title', 'title'],
    ['a many-to-one row', 'POST', '/items/post', { author: { nmae: 'Ann' } }, 'author.nmae', 'name'],
    ['a to-many row', 'POST', '/items/post', { remarks: [{ wordng: 'x' }] }, 'remarks.0.wordng', 'wording'],
    [
      'a created row',
      'POST',
      '/items/post',
      { remarks: { create: [{ text: 'x', wrding: 1 }] } },
      'remarks.create.0.text',
      '',
    ],
    [
      'a row two levels down',
      'POST',
      '/items/remark',
      { post: { author: { birth_day: null } } },
      'post.author.birth_day',
      'birthday',
    ],
    ['a role', 'POST', '/roles', { name: 'x', admin_acess: true }, 'admin_acess', 'admin_access'],
    ['a user of a role', 'POST', '/roles', { name: 'x', users: [{ emial: 'a@b.c' }] }, 'users.0.emial', 'email'],
    ['the settings', 'PATCH', '/settings', { project_nam: 'x' }, 'project_nam', 'project_name'],
    ['the own user', 'PATCH', '/users/me', { firstname: 'x' }, 'firstname', 'first_name'],
    ['a folder', 'POST', '/folders', { nme: 'x' }, 'nme', 'name'],
  ];
  for (const [where, method, path, body, name, meant] of CASES) {
    it(`an unknown field of ${where} is refused with INVALID_PAYLOAD and the nearest field name`, async () => {
      const answer = await refusal(method, path, body);
      const field = name.split('.').at(-1) as string;
      expect(answer).to.deep.include({ status: 400, code: 'INVALID_PAYLOAD', path: pathOf(name) });
      expect(answer.message).to.contain(`"${field}" doesn't exist`);
      if (meant) expect(answer.message).to.contain(`Did you mean "${meant}"?`);
      else expect(answer.message).not.to.contain('Did you mean');
    });
  }

  it('an unknown field in a change of several rows is refused with the nearest field name', async () => {
    const { id } = await requestAsAdmin(service, 'POST', '/items/post', { title: 'a' });
    const answer = await refusal('PATCH', '/items/post', { keys: [id], data: { ttle: 'b' } });
    expect(answer.message).to.contain('Did you mean "title"?');
  });

  describe('for a caller who may write all fields but read only some', () => {
    let person: TestUserWithToken;
    before(async () => {
      person = await createUserWithPermissions(service, [
        { collection: 'post', action: 'create' },
        { collection: 'post', action: 'read', fields: ['id', 'title'] },
      ]);
    });

    it('the error suggests a field that the caller may read', async () => {
      const { message } = await refusal('POST', '/items/post', { titel: 'a' }, person.token);
      expect(message).to.contain('Did you mean "title"?');
    });

    it('the error does not suggest a field that the caller may not read', async () => {
      const { status, message } = await refusal('POST', '/items/post', { secret_nots: 'a' }, person.token);
      expect(status).to.equal(400);
      expect(message).not.to.contain('secret_note"').and.not.to.contain('Did you mean');
    });

    it('the error does not suggest a sensitive field, which "*" does not list', async () => {
      const { token } = await createUserWithPermissions(service, [
        { collection: 'platform_users', action: 'create' },
        { collection: 'platform_users', action: 'read' },
      ]);
      const { message } = await refusal('POST', '/users', { rol: 'a' }, token);
      expect(message).not.to.contain('"role"');
    });
  });

  it('an unknown field looks like a forbidden one to a caller whose fields are listed one by one', async () => {
    const { token } = await createUserWithPermissions(service, [
      { collection: 'post', action: 'create', fields: ['title'] },
      { collection: 'post', action: 'read' },
    ]);
    const unknown = await refusal('POST', '/items/post', { title: 'a', secret_nots: 1 }, token);
    const forbidden = await refusal('POST', '/items/post', { title: 'a', secret_note: 1 }, token);
    expect(unknown).to.deep.equal(forbidden).and.to.include({ status: 403, code: 'FORBIDDEN' });
  });
});

describe('unknown fields in a payload with ITEMS_UNKNOWN_FIELDS=ignore, in production', () => {
  let service: InProcessService;
  before(async () => {
    service = await startService({ env: { ITEMS_UNKNOWN_FIELDS: 'ignore', NODE_ENV: 'production' } });
    await service.database.query(TABLES);
    await addAlias(service);
  });
  after(() => service?.stop());

  it('unknown fields are ignored on every level of a payload', async () => {
    const created = await requestAsAdmin(service, 'POST', '/items/post', {
      title: 'a',
      __typename: 'post',
      author: { name: 'Ann', __typename: 'author' },
      remarks: [{ wording: 'x', _new: true }],
    });
    const fields = 'title,author.name,remarks.wording';
    const read = () => requestAsAdmin(service, 'GET', `/items/post/${created.id}?fields=${fields}`);
    expect(await read()).to.deep.equal({ title: 'a', author: { name: 'Ann' }, remarks: [{ wording: 'x' }] });
    await requestAsAdmin(service, 'PATCH', `/items/post/${created.id}`, { title: 'b', extra: 1 });
    expect((await read()).title).to.equal('b');
    await requestAsAdmin(service, 'PATCH', `/items/post/${created.id}`, { extra: 1 });
    expect((await read()).title).to.equal('b');
  });

  it('unknown fields of system collections are ignored', async () => {
    const { id } = await requestAsAdmin(service, 'POST', '/folders', { name: 'x', extra: 1 });
    expect((await requestAsAdmin(service, 'GET', `/folders/${id}`)).name).to.equal('x');
  });

  it('an unknown query parameter gets no Warning header in production', async () => {
    const { headers } = await service.request('GET', '/items/post?filtr=1', { token: service.admin.token });
    expect(headers.get('warning')).to.equal(null);
  });

  it('a revision does not contain unknown fields', async () => {
    const { id } = await requestAsAdmin(service, 'POST', '/items/post', { title: 'kept', extra: 'never kept' });
    const [revision] = await service.database.query(
      `select data, delta from platform_revisions where collection = 'post' and item = $1`,
      [String(id)],
    );
    expect(JSON.stringify(revision)).to.contain('"kept"').and.not.to.contain('never kept');
  });

  it('an unknown field is FORBIDDEN for a caller whose fields are listed one by one', async () => {
    const { token } = await createUserWithPermissions(service, [
      { collection: 'post', action: 'create', fields: ['title'] },
    ]);
    for (const name of ['unknown', 'secret_note']) {
      const reply = await service.request('POST', '/items/post', { token, body: { title: 'a', [name]: 1 } });
      expect([reply.status, reply.body?.errors[0].extensions.code], name).to.deep.equal([403, 'FORBIDDEN']);
    }
  });
});
