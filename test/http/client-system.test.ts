import { expect } from 'chai';
import { clientLibrary, createAdminClient, type Untyped } from '../support/client-library.ts';
import { type InProcessService, startService } from '../support/service.ts';

/** The commands of a published client library for system collections. */
describe('a published client library on the system collections', () => {
  let service: InProcessService;
  let request: (command: Untyped) => Promise<Untyped>;
  let me: string;
  before(async () => {
    service = await startService();
    request = createAdminClient(service);
    me = (await request(clientLibrary.readMe({ fields: ['id'] }))).id;
    await request(
      clientLibrary.createCollection({
        collection: 'article',
        schema: {},
        fields: [{ field: 'title', type: 'string' }],
      }),
    );
    await request(clientLibrary.createItem('article', { title: 'one' }));
  });
  after(() => service?.stop());

  interface Case {
    /** The parts of SDK function names that name the collection: `Folders` in `readFolders`, `Folder` in `readFolder`. */
    readonly many: string;
    readonly one: string;
    /** The payload of a new row; rows of different numbers have different values. */
    readonly row: (number: number) => Record<string, unknown>;
    readonly change: Record<string, unknown>;
    /** Creates the row that the rows of this case refer to. */
    readonly before?: () => Promise<void>;
  }

  let dashboard: string;
  const cases: readonly Case[] = [
    { many: 'Folders', one: 'Folder', row: (at) => ({ name: `folder ${at}` }), change: { name: 'changed' } },
    { many: 'Presets', one: 'Preset', row: (at) => ({ bookmark: `preset ${at}` }), change: { layout: 'cards' } },
    {
      many: 'Notifications',
      one: 'Notification',
      row: (at) => ({ recipient: me, subject: `notice ${at}` }),
      change: { status: 'archived' },
    },
    { many: 'Dashboards', one: 'Dashboard', row: (at) => ({ name: `dashboard ${at}` }), change: { note: 'changed' } },
    {
      many: 'Panels',
      one: 'Panel',
      before: async () => {
        dashboard = (await request(clientLibrary.createDashboard({ name: 'of panels' }))).id;
      },
      row: (at) => ({
        dashboard,
        name: `panel ${at}`,
        type: 'label',
        position_x: 1,
        position_y: at,
        width: 2,
        height: 2,
      }),
      change: { show_header: true },
    },
    {
      many: 'Translations',
      one: 'Translation',
      row: (at) => ({ key: `key ${at}`, language: 'en-US', value: 'text' }),
      change: { value: 'changed' },
    },
    {
      many: 'Comments',
      one: 'Comment',
      row: (at) => ({ collection: 'article', item: '1', comment: `comment ${at}` }),
      change: { comment: 'changed' },
    },
  ];

  for (const { many, one, row, change, before: prepare } of cases) {
    it(`${many.toLowerCase()}: the commands create, read, update and delete one and many`, async () => {
      await prepare?.();
      const first = await request(clientLibrary[`create${one}`](row(1)));
      expect(first).to.deep.include(row(1));
      const others = await request(clientLibrary[`create${many}`]([row(2), row(3)]));
      expect(others).to.have.length(2);
      const ids = [first.id, ...others.map(({ id }: Untyped) => id)];
      expect(await request(clientLibrary[`read${one}`](first.id))).to.deep.equal(first);
      const listed = await request(
        clientLibrary[`read${many}`]({ fields: ['id'], filter: { id: { _in: ids } }, limit: -1 }),
      );
      expect(listed).to.have.deep.members(ids.map((id) => ({ id })));
      const searched = await request(
        clientLibrary.withSearch(clientLibrary[`read${many}`]({ filter: { id: { _eq: first.id } } })),
      );
      expect(searched).to.deep.equal([first]);
      expect(await request(clientLibrary[`update${one}`](first.id, change))).to.deep.include({
        id: first.id,
        ...change,
      });
      const changed = await request(clientLibrary[`update${many}`](ids, change, { fields: Object.keys(change) }));
      expect(changed).to.deep.equal([change, change, change]);
      const batch = clientLibrary[`update${many}Batch`]([{ id: ids[1], ...change }], { fields: ['id'] });
      expect(await request(batch)).to.deep.equal([{ id: ids[1] }]);
      expect(await request(clientLibrary[`delete${one}`](first.id))).to.equal(null);
      expect(await request(clientLibrary[`delete${many}`](ids.slice(1)))).to.equal(null);
      expect(await request(clientLibrary[`read${many}`]({ filter: { id: { _in: ids } } }))).to.deep.equal([]);
    });
  }

  it('dashboards: the commands write and read a dashboard with its panels', async () => {
    const panels = [{ type: 'metric', position_x: 1, position_y: 1, width: 4, height: 4 }];
    const dashboard = await request(
      clientLibrary.createDashboard({ name: 'nested', panels }, { fields: ['id', { panels: ['*'] }] }),
    );
    expect(dashboard.panels[0]).to.deep.include({ ...panels[0], dashboard: dashboard.id });
    const read = await request(
      clientLibrary.readPanels({ filter: { dashboard: { name: { _eq: 'nested' } } }, fields: ['type'] }),
    );
    expect(read).to.deep.equal([{ type: 'metric' }]);
  });

  it('activity and revisions: the commands read one and many', async () => {
    const filter = { collection: { _eq: 'article' }, item: { _eq: '1' } };
    const [entry] = await request(clientLibrary.readActivities({ filter, sort: ['id'] }));
    expect(entry).to.deep.include({ action: 'create', user: me, collection: 'article', item: '1' });
    expect(await request(clientLibrary.readActivity(entry.id))).to.deep.equal(entry);
    const [revision] = await request(clientLibrary.readRevisions({ filter }));
    expect(revision).to.deep.include({ activity: entry.id, collection: 'article', item: '1' });
    expect((await request(clientLibrary.readRevision(revision.id))).data).to.deep.include({ title: 'one' });
  });
});
