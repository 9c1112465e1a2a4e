import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow } from './flow-fixture.ts';

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: { is_nullable: true } };

/** One event: the options of a flow that listens to it, what causes it, and what `$trigger` has. */
type Row = readonly [
  title: string,
  options: Readonly<Record<string, unknown>>,
  cause: (context: { admin: SendAsUser; anonymous: SendAsUser; email: string; password: string }) => Promise<unknown>,
  trigger: Readonly<Record<string, unknown>>,
];

const onTags = (scope: string) => ({ scope: [scope], collections: ['tags'] });
const login: Row[2] = ({ anonymous, email, password }) => anonymous('POST', '/auth/login', { email, password });

const ROWS: readonly Row[] = [
  [
    'action items.create',
    { type: 'action', ...onTags('items.create') },
    ({ admin }) => admin('POST', '/items/tags', { name: 'n' }),
    { event: 'tags.items.create', collection: 'tags', payload: { name: 'n' } },
  ],
  [
    'action items.update',
    { type: 'action', ...onTags('items.update') },
    ({ admin }) => admin('PATCH', '/items/tags', { keys: [1, 2], data: { name: 'u' } }),
    { event: 'tags.items.update', collection: 'tags', payload: { name: 'u' }, keys: [1, 2] },
  ],
  [
    'action items.delete',
    { type: 'action', ...onTags('items.delete') },
    ({ admin }) => admin('DELETE', '/items/tags/2'),
    { event: 'tags.items.delete', collection: 'tags', keys: [2], payload: [2] },
  ],
  [
    'filter items.create',
    { type: 'filter', ...onTags('items.create') },
    ({ admin }) => admin('POST', '/items/tags', { name: 'n' }),
    { event: 'tags.items.create', collection: 'tags', payload: { name: 'n' } },
  ],
  [
    'filter items.update',
    { type: 'filter', ...onTags('items.update') },
    ({ admin }) => admin('PATCH', '/items/tags/1', { name: 'u' }),
    { event: 'tags.items.update', collection: 'tags', payload: { name: 'u' }, keys: [1] },
  ],
  [
    'filter items.delete',
    { type: 'filter', ...onTags('items.delete') },
    ({ admin }) => admin('DELETE', '/items/tags/2'),
    { event: 'tags.items.delete', collection: 'tags', payload: [2] },
  ],
  [
    'filter items.read',
    { type: 'filter', scope: ['items.read'] },
    ({ admin }) => admin('GET', '/items/tags?fields=id&filter[id][_eq]=1'),
    { event: 'items.read', collection: 'tags', payload: [{ id: 1 }] },
  ],
  [
    'action of a read of one collection',
    { type: 'action', scope: ['tags.items.read'] },
    ({ admin }) => admin('GET', '/items/tags?fields=id&filter[id][_eq]=1'),
    { event: 'tags.items.read', collection: 'tags', payload: [{ id: 1 }] },
  ],
  [
    'filter items.query',
    { type: 'filter', scope: ['items.query'] },
    ({ admin }) => admin('GET', '/items/tags?limit=1'),
    { event: 'items.query', collection: 'tags' },
  ],
  [
    'action of a system collection by its list',
    { type: 'action', scope: ['items.create'], collections: ['platform_folders'] },
    ({ admin }) => admin('POST', '/folders', { name: 'f' }),
    { event: 'folders.create', collection: 'platform_folders' },
  ],
  [
    'action of a system collection by its name',
    { type: 'action', scope: ['folders.create'] },
    ({ admin }) => admin('POST', '/folders', { name: 'g' }),
    { event: 'folders.create' },
  ],
  ['action auth.login', { type: 'action', scope: ['auth.login'] }, login, { event: 'auth.login', status: 'success' }],
  ['filter auth.login', { type: 'filter', scope: ['auth.login'] }, login, { event: 'auth.login', status: 'pending' }],
  ['filter auth.jwt', { type: 'filter', scope: ['auth.jwt'] }, login, { event: 'auth.jwt', type: 'login' }],
  [
    'filter request.not_found',
    { type: 'filter', scope: ['request.not_found'] },
    ({ anonymous }) => anonymous('GET', '/nowhere'),
    { event: 'request.not_found', payload: false },
  ],
  [
    'filter request.error',
    { type: 'filter', scope: ['request.error'] },
    ({ anonymous }) => anonymous('GET', '/items/tags'),
    { event: 'request.error' },
  ],
  [
    'action collections.create',
    { type: 'action', scope: ['collections.create'] },
    ({ admin }) => admin('POST', '/collections', { collection: 'more', schema: {}, fields: [key] }),
    { event: 'collections.create' },
  ],
];

describe('events that flows listen to', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    for (const collection of ['tags', 'seen'])
      await admin('POST', '/collections', { collection, schema: {}, fields: [key, name] });
  });
  after(() => service?.stop());
  beforeEach(() =>
    service.database.query(`truncate tags, seen restart identity; insert into tags (name) values ('a'), ('b'), ('c')`),
  );
  afterEach(() => admin('DELETE', '/flows', { query: { limit: -1 } }));

  const note = {
    key: 'note',
    type: 'item-create',
    options: { collection: 'seen', payload: { name: 'got {{ $trigger }}' }, permissions: '$full' },
  };
  const seen = async () =>
    (await service.database.query<{ name: string }>('select name from seen order by id')).map((one) =>
      JSON.parse(one.name.slice('got '.length)),
    );
  const cause = (run: Row[2]) =>
    run({
      admin,
      anonymous: createUserSender(service, null),
      email: service.admin.email,
      password: service.admin.password,
    });

  for (const [title, options, run, trigger] of ROWS)
    it(`${title}: $trigger has ${Object.keys(trigger).join(', ')}, and no caller`, async () => {
      await createTestFlow(admin, { trigger: 'event', options, steps: [note] });
      await cause(run);
      const [first] = await until(async () => (await seen()).length > 0 && seen());
      expect(first).to.deep.include(trigger);
      expect(first).to.not.have.any.keys('caller', 'request', 'response');
    });

  for (const [title, options] of [
    ['without collections', { type: 'action', scope: ['items.create'] }],
    ['for another collection', { type: 'action', scope: ['items.create'], collections: ['seen'] }],
    ['of another type', { type: 'both', ...onTags('items.create') }],
    ['of a wildcard', { type: 'action', scope: ['**', 'tags.items.*'] }],
    ['without a scope', { type: 'action', collections: ['tags'] }],
  ] as const)
    it(`a flow ${title} listens to no write of the collection`, async () => {
      await createTestFlow(admin, { trigger: 'event', options, steps: [note] });
      // The other flow shows that the actions of the write have run.
      await createTestFlow(admin, {
        trigger: 'event',
        options: { type: 'action', ...onTags('items.create') },
        steps: [{ ...note, key: 'other', options: { ...note.options, payload: { name: 'got {"other":1}' } } }],
      });
      await admin('POST', '/items/tags', { name: 'n' });
      await until(async () => (await seen()).length > 0);
      expect(await seen()).to.deep.equal([{ other: 1 }]);
    });

  it('creates are events of their own for each row, and an update of several rows is one', async () => {
    const options = { type: 'action', scope: ['items.create', 'items.update'], collections: ['tags'] };
    await createTestFlow(admin, { trigger: 'event', options, steps: [note] });
    await admin('POST', '/items/tags', [{ name: 'x' }, { name: 'y' }]);
    await until(async () => (await seen()).length === 2);
    await admin('PATCH', '/items/tags', { keys: [1, 2, 3], data: { name: 'z' } });
    await until(async () => (await seen()).length === 3);
    // The flows of the two creations run at the same time.
    expect((await seen()).map((one) => one.key ?? one.keys)).to.have.deep.members([4, 5, [1, 2, 3]]);
  });

  it('several filter flows of one event run in the order of their creation, each with the payload of the one before', async () => {
    for (const letter of ['a', 'b'])
      await createTestFlow(admin, {
        trigger: 'event',
        options: { type: 'filter', ...onTags('items.create'), return: '$last' },
        steps: [{ key: 'add', type: 'transform', options: { json: { name: `{{ $trigger.payload.name }}${letter}` } } }],
      });
    expect((await admin('POST', '/items/tags', { name: '-' })).body.data.name).to.equal('-ab');
  });

  it('a delete filter may return other keys, whose rows are deleted instead', async () => {
    await createTestFlow(admin, {
      trigger: 'event',
      options: { type: 'filter', ...onTags('items.delete'), return: 'keys' },
      steps: [{ key: 'keys', type: 'transform', options: { json: '[3]' } }],
    });
    await admin('DELETE', '/items/tags/1');
    expect(await service.database.query('select id from tags order by id')).to.deep.equal([{ id: 1 }, { id: 2 }]);
  });
});
