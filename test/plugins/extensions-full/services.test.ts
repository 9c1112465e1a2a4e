import { expect } from 'chai';
import {
  createFullAuthorityContext,
  type FullAuthorityContext,
} from '../../../plugins/extensions-full/extension-context.ts';
import { createExtensionRuntime, type ExtensionRuntime } from '../../../plugins/extensions-full/extension-runtime.ts';
import { createUndoStack, type UndoStack } from '../../../plugins/extensions-full/undo-stack.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { type ExtensionTestService, startExtensionTestService } from './test-service.ts';

describe('services of extensions', () => {
  let testService: ExtensionTestService;
  let scope: UndoStack;
  let kit: ExtensionRuntime;
  let context: FullAuthorityContext;
  let role: string;
  let user: string;
  before(async () => {
    testService = await startExtensionTestService({
      env: { QUERY_LIMIT_DEFAULT: '3', SOME_FLAG: 'true', SOME_LIST: 'a, b', SOME_NUMBER: '12' },
    });
    const { database, request, admin: token } = testService;
    await database.query('create table notes (id serial primary key, text text not null, size int)');
    await database.query('create table page (id int primary key default 1, title text)');
    await until(async () => (await testService.deps.schema.refresh()).collections.has('page'));
    const send = async (path: string, body: object) => (await request('POST', path, { body, token })).body.data;
    await request('PATCH', '/collections/page', { body: { meta: { singleton: true } }, token });
    role = (await send('/roles', { name: 'Writers', app_access: true })).id;
    user = (await send('/users', { email: 'writer@example.com', role })).id;
    for (const action of ['create', 'read', 'update'])
      await send('/permissions', {
        role,
        collection: 'notes',
        action,
        fields: ['id', 'text'],
        permissions: action === 'create' ? null : { size: { _null: true } },
      });
    scope = createUndoStack();
    kit = createExtensionRuntime(
      await testService.createExtension({ name: 'service-extension-desk', files: '' }),
      testService.deps,
      scope,
    );
    context = createFullAuthorityContext(kit);
  });
  after(async () => {
    await scope?.close();
    await testService?.stop();
  });
  beforeEach(() => testService.database.query('truncate notes restart identity; truncate page'));

  const writer = () => ({ user, role, admin: false, app: true });
  const notes = (accountability?: object | null) => new context.services.ItemsService('notes', { accountability });
  const codeOf = async (work: Promise<unknown>) => (await captureError<{ code: string }>(work)).code;
  const rows = () => testService.database.query('select id, text, size from notes order by id');
  const systemCalls = () =>
    testService.deps.subjects
      .account()
      .did.filter(({ kind, plugin }) => kind === 'system' && plugin === 'service-extension-desk@1.2.3')
      .reduce((sum, { count }) => sum + count, 0);

  it('ItemsService reads and writes rows', async () => {
    const service = notes();
    expect(await service.createOne({ text: 'a' })).to.equal(1);
    expect(await service.createMany([{ text: 'b' }, { text: 'c', size: 3 }])).to.deep.equal([2, 3]);
    expect(await service.readOne(1)).to.deep.equal({ id: 1, text: 'a', size: null });
    expect(await service.readMany([3, 1], { fields: ['text'] })).to.deep.equal([{ text: 'c' }, { text: 'a' }]);
    expect(await service.readByQuery({ filter: { size: { _null: true } }, fields: ['id'] })).to.deep.equal([
      { id: 1 },
      { id: 2 },
    ]);
    expect(await service.readByQuery({ aggregate: { count: ['*'] } })).to.deep.equal([{ count: 3 }]);
    expect(await service.getKeysByQuery({ sort: ['-id'] })).to.deep.equal([3, 2, 1]);
    expect(await service.updateOne(1, { size: 1 })).to.equal(1);
    expect(await service.updateMany([1, 2], { size: 5 })).to.deep.equal([1, 2]);
    expect(
      await service.updateBatch([
        { id: 1, text: 'A' },
        { id: 3, text: 'C' },
      ]),
    ).to.deep.equal([1, 3]);
    expect(await service.updateByQuery({ filter: { size: { _eq: 3 } } }, { text: 'CC' })).to.deep.equal([3]);
    expect(await rows()).to.deep.equal([
      { id: 1, text: 'A', size: 5 },
      { id: 2, text: 'b', size: 5 },
      { id: 3, text: 'CC', size: 3 },
    ]);
    expect(await service.deleteOne(1)).to.equal(1);
    expect(await service.deleteMany([2])).to.deep.equal([2]);
    expect(await service.deleteByQuery({ filter: { id: { _gt: 0 } } })).to.deep.equal([3]);
    expect(await rows()).to.deep.equal([]);
  });

  it('upsert changes existing rows and creates missing ones', async () => {
    const service = notes();
    await service.createOne({ text: 'a' });
    expect(await service.upsertOne({ id: 1, text: 'b' })).to.equal(1);
    expect(await service.upsertMany([{ id: 7, text: 'c' }, { text: 'd' }])).to.deep.equal([7, 2]);
    expect((await rows()).map((row) => row.text)).to.deep.equal(['b', 'd', 'c']);
    expect(await codeOf(service.upsertMany([{ id: 1, text: 'x' }, { id: 9 }]))).to.equal('NOT_NULL_VIOLATION');
    expect((await rows()).map((row) => row.text)).to.deep.equal(['b', 'd', 'c']);
  });

  it('readSingleton and upsertSingleton work on singletons', async () => {
    const service = new context.services.ItemsService('page');
    expect(await service.readSingleton({ fields: ['title'] })).to.deep.equal({});
    await service.upsertSingleton({ title: 'a' });
    await service.upsertSingleton({ title: 'b' });
    expect(await service.readSingleton()).to.deep.equal({ id: 1, title: 'b' });
  });

  it('reads have the default limit, and none with limit: -1', async () => {
    await testService.database.query(`insert into notes (text) select 'x' from generate_series(1, 7)`);
    expect(await notes().readByQuery()).to.have.length(3);
    expect(await notes().readByQuery({ limit: -1 })).to.have.length(7);
    expect(await notes().readByQuery({ limit: 5 })).to.have.length(5);
  });

  it('a service applies the permissions of its accountability', async () => {
    await testService.database.query(`insert into notes (text, size) values ('seen', null), ('hidden', 1)`);
    const service = notes(writer());
    expect(await service.readByQuery()).to.deep.equal([{ id: 1, text: 'seen' }]);
    const failed = await captureError(service.readOne(2));
    expect(failed).to.be.instanceOf(context.exceptions.ForbiddenException);
    expect(failed).not.to.be.instanceOf(context.exceptions.InvalidPayloadException);
    expect(await codeOf(service.createOne({ text: 'a', size: 1 }))).to.equal('FORBIDDEN');
    expect(await codeOf(service.updateOne(2, { text: 'a' }))).to.equal('FORBIDDEN');
    expect(await codeOf(service.deleteOne(1))).to.equal('FORBIDDEN');
    expect(await service.upsertOne({ id: 1, text: 'mine' })).to.equal(1);
    expect(await codeOf(service.upsertOne({ id: 2, text: 'mine' }))).to.equal('FORBIDDEN');
    const anonymous = { user: null, role: null, admin: false, app: false };
    expect(await codeOf(notes(anonymous).readByQuery())).to.equal('FORBIDDEN');
  });

  it('an incomplete accountability has only the rights it states', async () => {
    await testService.database.query(`insert into notes (text, size) values ('hidden', 1)`);
    for (const accountability of [{}, { admin: 'true' }, { admin: 1, role: 7 }, { user, reason: 'x', owner: 'y' }])
      expect(await codeOf(notes(accountability).readByQuery()), JSON.stringify(accountability)).to.equal('FORBIDDEN');
    expect(await notes({ admin: true }).readByQuery()).to.have.length(1);
  });

  it('a service without accountability acts as the system, which the ledger counts', async () => {
    const before = systemCalls();
    await notes().createOne({ text: 'a' });
    await notes(null).readByQuery();
    await notes(writer()).readByQuery();
    expect(systemCalls() - before).to.equal(2);
    const [row] = await testService.database.query(
      'select "user", owner from platform_activity order by id desc limit 1',
    );
    expect(row).to.deep.equal({ user: null, owner: 'service-extension-desk@1.2.3' });
  });

  it('a write is recorded under the user of the accountability', async () => {
    await notes(writer()).createOne({ text: 'a' });
    const [row] = await testService.database.query('select "user" from platform_activity order by id desc limit 1');
    expect(row).to.deep.equal({ user });
  });

  it('a service runs in the knex transaction that it gets', async () => {
    const { database, services } = context;
    const failed = await captureError(
      database.transaction(async (trx) => {
        await new services.ItemsService('notes', { knex: trx }).createOne({ text: 'a' });
        await trx('notes').insert({ text: 'b' });
        throw new Error('on purpose');
      }),
    );
    expect([failed.message, await rows()]).to.deep.equal(['on purpose', []]);
    const trx = await database.transaction();
    const service = new services.ItemsService('notes', { knex: trx, schema: await context.getSchema() });
    await service.createOne({ text: 'c' });
    await trx('notes').insert({ text: 'd' });
    expect(await rows()).to.deep.equal([]);
    await trx.commit();
    expect((await rows()).map((row) => row.text)).to.deep.equal(['c', 'd']);
  });

  it('emitEvents: false calls no listener of an extension, and core rules apply', async () => {
    const files = `export default ({ filter, action }) => {
      filter('items.create', (payload) => ({ ...payload, text: payload.text + '!' }));
      filter('notes.items.read', (rows) => rows.map((row) => ({ ...row, text: 'changed' })));
    };`;
    await testService.with({ type: 'hook', files }, async () => {
      const service = notes();
      await service.createOne({ text: 'loud' });
      await service.createOne({ text: 'quiet' }, { emitEvents: false });
      expect((await rows()).map((row) => row.text)).to.deep.equal(['loud!', 'quiet']);
      expect(await service.readOne(2, {}, { emitEvents: false })).to.include({ text: 'quiet' });
      expect(await service.readOne(2)).to.include({ text: 'changed' });
    });
    const users = new context.services.UsersService();
    const wrong = users.createOne({ email: 'no address', status: 'none' }, { emitEvents: false });
    expect(await codeOf(wrong)).to.equal('INVALID_PAYLOAD');
  });

  it('a service exists for each system collection', async () => {
    const { UsersService, RolesService } = context.services;
    expect(await new UsersService().readOne(user, { fields: ['email'] })).to.deep.equal({
      email: 'writer@example.com',
    });
    expect(
      await codeOf(new RolesService({ accountability: writer() }).updateOne(role, { admin_access: true })),
    ).to.equal('FORBIDDEN');
    const names = Object.entries(context.services).map(([key, created]) => [key, created.name]);
    for (const [key, name] of names) expect(name).to.equal(key);
    const known = new Set((await testService.deps.schema.snapshot()).collections.keys());
    const collections = Object.values(context.services).flatMap((created) => {
      if (!(created.prototype instanceof context.services.ItemsService)) return [];
      return new (created as new (options: object) => { collection: string })({}).collection;
    });
    // The plugin of shares is none of those that this service has.
    expect(collections.filter((collection) => !known.has(collection))).to.deep.equal(['platform_shares']);
  });

  it('CollectionsService, FieldsService and RelationsService create, read and delete tables', async () => {
    const { CollectionsService, FieldsService, RelationsService, ItemsService } = context.services;
    const collections = new CollectionsService();
    const fields = new FieldsService();
    const relations = new RelationsService();
    expect(await collections.createOne({ collection: 'shelves', schema: {}, fields: [] })).to.equal('shelves');
    await collections.createMany([{ collection: 'books', schema: {} }]);
    expect(await fields.createField('books', { field: 'shelf', type: 'integer' })).to.equal('shelf');
    await fields.updateField('books', { field: 'shelf', meta: { note: 'where' } });
    await relations.createOne({ collection: 'books', field: 'shelf', related_collection: 'shelves' });
    expect((await fields.readOne('books', 'shelf')).meta?.note).to.equal('where');
    expect((await relations.readAll('books')).map(({ field }) => field)).to.deep.equal(['shelf']);
    expect((await context.getSchema()).collections.books?.fields).to.include.keys('shelf');
    const shelf = await new ItemsService('shelves').createOne({});
    await new ItemsService('books').createOne({ shelf });
    await relations.updateOne('books', 'shelf', { meta: { one_field: 'books' } });
    await relations.deleteOne('books', 'shelf');
    await fields.deleteField('books', 'shelf');
    expect(await codeOf(fields.readOne('books', 'shelf'))).to.equal('FORBIDDEN');
    await collections.updateOne('books', { meta: { note: 'all' } });
    expect((await collections.readOne('books')).meta?.note).to.equal('all');
    expect(await collections.deleteMany(['books', 'shelves'])).to.deep.equal(['books', 'shelves']);
    expect((await collections.readByQuery()).map(({ collection }) => collection)).not.to.include('books');
  });

  it('schema services show what the caller may read and let only admins write', async () => {
    const { CollectionsService, FieldsService } = context.services;
    const accountability = writer();
    const seen = await new CollectionsService({ accountability }).readByQuery();
    expect(seen.map(({ collection }) => collection))
      .to.include('notes')
      .and.not.to.include('page');
    const fields = await new FieldsService({ accountability }).readAll('notes');
    expect(fields.map(({ field }) => field)).to.deep.equal(['id', 'text']);
    expect(await codeOf(new CollectionsService({ accountability }).deleteOne('notes'))).to.equal('FORBIDDEN');
  });

  it('FieldsService hides the foreign key to a collection that the caller may not read', async () => {
    const { FieldsService } = context.services;
    const { database, request, admin: token } = testService;
    await database.query('create table drafts (id serial primary key, page int references page(id))');
    await until(async () => (await testService.deps.schema.refresh()).collections.has('drafts'));
    const body = { role, collection: 'drafts', action: 'read', fields: ['*'] };
    expect((await request('POST', '/permissions', { body, token })).status).to.equal(200);
    const targetOf = async (accountability: object | null) =>
      (await new FieldsService({ accountability }).readOne('drafts', 'page')).schema?.foreign_key_table;
    expect(await targetOf(null)).to.equal('page');
    expect(await targetOf(writer())).to.equal(null);
    await database.query('drop table drafts');
  });

  it("env has parsed settings, and extensionSettings the package's own", async () => {
    expect(context.env).to.include({ SOME_FLAG: true, SOME_NUMBER: 12, QUERY_LIMIT_DEFAULT: 3, LOGIN_STALL_TIME: 1 });
    expect(context.env.SOME_LIST).to.deep.equal(['a', 'b']);
    expect(await context.extensionSettings.get('nothing')).to.equal(null);
    context.logger.info('a word');
    expect(testService.log.some((line) => line.msg === 'a word' && line.owner === 'service-extension-desk')).to.equal(
      true,
    );
  });
});
