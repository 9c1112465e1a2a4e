import { expect } from 'chai';
import {
  createTestPermission,
  createTestUserAccount,
  createUserSender,
  errorCodeOf,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

const FORBIDDEN = [403, 'FORBIDDEN'];
const readArticles = { collection: 'article', action: 'read', permissions: { hidden: { _eq: false } } };

describe('/comments', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let adminId: string;
  /** Ann and Bob may read articles that are not hidden; Carl may read none. */
  let ann: TestUserAccount;
  let bob: TestUserAccount;
  let carl: TestUserAccount;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    adminId = (await admin('GET', '/users/me')).body.data.id;
    const fields = [
      { field: 'title', type: 'string' },
      { field: 'hidden', type: 'boolean', schema: { default_value: false } },
    ];
    expect((await admin('POST', '/collections', { collection: 'article', schema: {}, fields })).status).to.equal(200);
    await admin('POST', '/items/article', [{ title: 'open' }, { title: 'secret', hidden: true }]);
    const role = await makeRole(service, { app_access: true }, [readArticles]);
    [ann, bob] = [await createTestUserAccount(service, role), await createTestUserAccount(service, role)];
    carl = await createTestUserAccount(service, await makeRole(service, { app_access: true }));
  });
  after(() => service?.stop());
  beforeEach(() => service.database.query('truncate platform_comments, platform_notifications restart identity'));

  const about = (comment: string, item: string | number = 1) => ({ collection: 'article', item, comment });
  const notices = async () =>
    (await admin('GET', '/notifications?fields=recipient,sender,subject,message,collection,item&sort=id')).body.data;

  it('creates, reads, changes and deletes comments', async () => {
    const created = await admin('POST', '/comments', about('Well said'));
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    const { id, date_created } = created.body.data;
    expect(created.body.data).to.deep.equal({
      id,
      ...about('Well said', '1'),
      date_created,
      date_updated: null,
      user_created: adminId,
      user_updated: null,
    });
    expect(new Date(date_created).getTime()).to.be.closeTo(Date.now(), 60_000);
    const { body } = await admin('PATCH', `/comments/${id}`, { comment: 'Badly said' });
    expect(body.data).to.include({ comment: 'Badly said', user_updated: adminId, date_created });
    expect(body.data.date_updated).to.be.a('string');
    await admin('POST', '/comments', [about('a', 2), about('b', 2)]);
    const found = await admin('SEARCH', '/comments', {
      query: { filter: { collection: { _eq: 'article' }, item: { _eq: '2' } }, sort: ['comment'], fields: ['comment'] },
    });
    expect(found.body.data).to.deep.equal([{ comment: 'a' }, { comment: 'b' }]);
    expect((await admin('DELETE', `/comments/${id}`)).status).to.equal(204);
    expect((await admin('DELETE', '/comments', { query: { filter: { item: { _eq: '2' } } } })).status).to.equal(204);
    expect((await admin('GET', '/comments')).body.data).to.deep.equal([]);
  });

  it('rejects invalid comments', async () => {
    const missing = await admin('POST', '/comments', {});
    const fields = missing.body.errors.map((one: { extensions: { field: string } }) => one.extensions.field);
    expect([errorCodeOf(missing), fields]).to.deep.equal(['FAILED_VALIDATION', ['collection', 'item', 'comment']]);
    for (const body of [
      { ...about('x'), mood: 'good' },
      { ...about('x'), collection: 5 },
      { ...about('x'), item: { id: 1 } },
      { ...about('x'), comment: ['x'] },
    ]) {
      expect(errorCodeOf(await admin('POST', '/comments', body)), JSON.stringify(body)).to.equal('INVALID_PAYLOAD');
    }
    expect(errorCodeOf(await admin('POST', '/comments', { ...about('x'), comment: null }))).to.equal(
      'FAILED_VALIDATION',
    );
    const { id } = (await admin('POST', '/comments', about('x'))).body.data;
    expect(errorCodeOf(await admin('PATCH', `/comments/${id}`, { item: '2' }))).to.equal('INVALID_PAYLOAD');
    expect((await admin('GET', '/comments?fields=item')).body.data).to.deep.equal([{ item: '1' }]);
  });

  it('accepts comments about existing items only, and stores the key as the item has it', async () => {
    for (const wrong of [about('x', 99), about('x', 'one'), { ...about('x'), collection: 'nothing' }]) {
      expect(statusAndCodeOf(await admin('POST', '/comments', wrong)), JSON.stringify(wrong)).to.deep.equal(FORBIDDEN);
    }
    expect((await admin('POST', '/comments', about('x', '001'))).body.data.item).to.equal('1');
    const user = { collection: 'platform_users', item: adminId.toUpperCase(), comment: 'x' };
    expect((await admin('POST', '/comments', user)).body.data.item).to.equal(adminId);
  });

  it('allows app users to comment on items they may read, and to read their own comments', async () => {
    const { id } = (await ann.ask('POST', '/comments', about('mine'))).body.data;
    expect(statusAndCodeOf(await ann.ask('POST', '/comments', about('x', 2)))).to.deep.equal(FORBIDDEN);
    expect(statusAndCodeOf(await carl.ask('POST', '/comments', about('x')))).to.deep.equal(FORBIDDEN);
    expect((await ann.ask('PATCH', `/comments/${id}`, { comment: 'still mine' })).body.data).to.include({
      comment: 'still mine',
      user_created: ann.id,
    });
    expect((await bob.ask('GET', '/comments')).body.data).to.deep.equal([]);
    for (const [method, body] of [['GET'], ['PATCH', { comment: 'x' }], ['DELETE']] as const) {
      expect(statusAndCodeOf(await bob.ask(method, `/comments/${id}`, body)), method).to.deep.equal(FORBIDDEN);
    }
    expect(statusAndCodeOf(await ann.ask('PATCH', `/comments/${id}`, { user_created: bob.id }))).to.deep.equal(
      FORBIDDEN,
    );
    expect((await ann.ask('DELETE', `/comments/${id}`)).status).to.equal(204);
  });

  it('requires a user, whatever the Public role may do', async () => {
    const anonymous = createUserSender(service, null);
    expect(statusAndCodeOf(await anonymous('POST', '/comments', about('x')))).to.deep.equal(FORBIDDEN);
    expect(statusAndCodeOf(await anonymous('POST', '/comments', {}))).to.deep.equal(FORBIDDEN);
    const rows = [
      await createTestPermission(service, null, { collection: 'platform_comments', action: 'create' }),
      await createTestPermission(service, null, { collection: 'article', action: 'read' }),
    ];
    expect(statusAndCodeOf(await anonymous('POST', '/comments', about('x')))).to.deep.equal(FORBIDDEN);
    await admin('DELETE', '/permissions', rows);
  });

  it('rejects presets of a permission that put a comment under another item', async () => {
    const role = await makeRole(service, {}, [
      readArticles,
      { collection: 'platform_comments', action: 'create', presets: { collection: 'article', item: '2' } },
    ]);
    const { ask } = await createTestUserAccount(service, role);
    expect(errorCodeOf(await ask('POST', '/comments', { comment: 'x' }))).to.equal('FAILED_VALIDATION');
    expect((await ask('POST', '/comments', about('x'))).status).to.equal(204);
    expect((await admin('GET', '/comments?fields=item')).body.data).to.deep.equal([{ item: '1' }]);
  });

  it('keeps comments when their author is deleted', async () => {
    const leaving = await createTestUserAccount(service, ann.role);
    const { id } = (await leaving.ask('POST', '/comments', about('x'))).body.data;
    await admin('DELETE', `/users/${leaving.id}`);
    expect((await admin('GET', `/comments/${id}?fields=comment,user_created`)).body.data).to.deep.equal({
      comment: 'x',
      user_created: null,
    });
  });

  it('deletes the comments of a deleted collection', async () => {
    const fields = [{ field: 'a', type: 'string' }];
    await admin('POST', '/collections', { collection: 'short_lived', schema: {}, fields });
    await admin('POST', '/items/short_lived', { a: 'x' });
    await admin('POST', '/comments', [about('stays'), { ...about('goes'), collection: 'short_lived' }]);
    expect((await admin('GET', '/comments')).body.data).to.have.length(2);
    expect((await admin('DELETE', '/collections/short_lived')).status).to.equal(204);
    expect((await admin('GET', '/comments?fields=comment')).body.data).to.deep.equal([{ comment: 'stays' }]);
  });

  describe('mentions in comments', () => {
    it('notify users that may read the item', async () => {
      const comment = `@${bob.id} and @${bob.id.toUpperCase()}, also @${carl.id}: look`;
      expect((await ann.ask('POST', '/comments', about(comment))).status).to.equal(200);
      expect(await notices()).to.deep.equal([
        {
          recipient: bob.id,
          sender: ann.id,
          subject: 'You were mentioned in article',
          message: comment,
          collection: 'article',
          item: '1',
        },
      ]);
      expect((await bob.ask('GET', '/notifications?fields=message')).body.data).to.deep.equal([{ message: comment }]);
    });

    it('notify only admins of a hidden item', async () => {
      await admin('POST', '/comments', about(`@${bob.id} @${adminId}`, 2));
      expect((await notices()).map((one: { recipient: string }) => one.recipient)).to.deep.equal([adminId]);
    });

    it('are not recognised in similar texts', async () => {
      const [head] = bob.id.split('-');
      await admin('PATCH', `/users/${carl.id}`, { status: 'suspended' });
      const texts = [bob.id, `@${head}`, `@${bob.id}0`, '@11111111-1111-4111-8111-111111111111', `@${carl.id}`];
      for (const text of texts) expect((await admin('POST', '/comments', about(text))).status, text).to.equal(200);
      await admin('PATCH', `/users/${carl.id}`, { status: 'active' });
      expect(await notices()).to.deep.equal([]);
    });

    it('are stored together with the comment or not at all', async () => {
      const refused = await admin('POST', '/comments', { ...about(`@${bob.id}`), mood: 'good' });
      expect(errorCodeOf(refused)).to.equal('INVALID_PAYLOAD');
      expect(await notices()).to.deep.equal([]);
    });

    it('are limited to a hundred', async () => {
      const many = Array.from(
        { length: 101 },
        (_one, at) => `@11111111-1111-4111-8111-${String(at).padStart(12, '0')}`,
      );
      expect((await admin('POST', '/comments', about(many.slice(1).join(' ')))).status).to.equal(200);
      expect(statusAndCodeOf(await admin('POST', '/comments', about(many.join(' '))))).to.deep.equal([
        400,
        'INVALID_PAYLOAD',
      ]);
    });
  });

  describe('/activity/comment', () => {
    it('creates, changes and deletes comments', async () => {
      const created = await ann.ask('POST', '/activity/comment', about(`@${bob.id} hello`));
      expect(created.body.data).to.include({ collection: 'article', item: '1', user_created: ann.id });
      const path = `/activity/comment/${created.body.data.id}`;
      expect(await notices()).to.have.length(1);
      expect((await ann.ask('PATCH', path, { comment: 'changed' })).body.data.comment).to.equal('changed');
      expect((await ann.ask('GET', `/comments/${created.body.data.id}`)).body.data.comment).to.equal('changed');
      expect(statusAndCodeOf(await bob.ask('PATCH', path, { comment: 'x' }))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await bob.ask('DELETE', path))).to.deep.equal(FORBIDDEN);
      expect((await ann.ask('DELETE', path)).status).to.equal(204);
      expect(
        statusAndCodeOf(await createUserSender(service, null)('POST', '/activity/comment', about('x'))),
      ).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await ann.ask('POST', '/activity/comment', about('x', 2)))).to.deep.equal(FORBIDDEN);
    });

    it('rejects other routes than those by key', async () => {
      for (const method of ['PATCH', 'DELETE', 'SEARCH']) {
        expect(statusAndCodeOf(await admin(method, '/activity/comment', {})), method).to.deep.equal([
          404,
          'ROUTE_NOT_FOUND',
        ]);
      }
    });
  });
});
