import { expect } from 'chai';
import { renderAdminPageEmbeds } from '../../../plugins/extensions-full/admin-page-embeds.ts';
import { runInitHandlers, SERVICE_INIT_EVENTS } from '../../../plugins/extensions-full/init-events.ts';
import { publicCaller } from '../../support/caller.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import {
  type ExtensionTestService,
  extensionReports,
  startExtensionTestService,
  TELL_FUNCTION_SOURCE,
} from './test-service.ts';

describe('hooks with full authority', () => {
  let testService: ExtensionTestService;
  before(async () => {
    testService = await startExtensionTestService();
    await testService.database.query('create table notes (id serial primary key, text text, size int)');
    await testService.database.query('create table traces (text text)');
    await until(async () => (await testService.deps.schema.refresh()).collections.has('notes'));
  });
  after(() => testService?.stop());
  beforeEach(async () => {
    extensionReports.splice(0);
    await testService.database.query('truncate notes; truncate traces');
  });

  const hook = <T>(body: string, work: () => Promise<T>, name?: string) =>
    testService.with(
      {
        type: 'hook',
        name,
        files: `${TELL_FUNCTION_SOURCE}export default async ({ filter, action, init, schedule, embed }, context) => { ${body} };`,
      },
      work,
    );
  const create = (body: object) => testService.request('POST', '/items/notes', { body, token: testService.admin });
  const notes = () => testService.database.query('select text, size from notes order by id');

  it('filters change the payload in order, and undefined keeps it', async () => {
    const body = `
      filter('items.create', (payload) => ({ ...payload, text: payload.text + '1' }));
      filter('notes.items.create', () => undefined);
      filter('*.items.create', async (payload) => ({ ...payload, text: payload.text + '2' }));`;
    await hook(body, async () => {
      await create({ text: 'a' });
      expect(await notes()).to.deep.equal([{ text: 'a12', size: null }]);
    });
    await create({ text: 'b' });
    expect((await notes()).at(-1)).to.deep.equal({ text: 'b', size: null });
  });

  it('listeners get the event and the accountability, but no internal caller', async () => {
    const body = `
      filter('notes.items.create', (payload, meta, { schema, accountability }) =>
        void tell([payload, meta, Object.keys(schema.collections).includes('notes'), accountability?.admin]));
      action('notes.items.create', (meta, { accountability }) => tell([meta, accountability?.admin]));`;
    await hook(body, async () => {
      const { body: reply } = await create({ text: 'a' });
      await until(() => extensionReports.length === 2);
      const { id } = reply.data;
      expect(extensionReports).to.deep.equal([
        [{ text: 'a' }, { event: 'notes.items.create', collection: 'notes' }, true, true],
        [{ event: 'notes.items.create', collection: 'notes', payload: { text: 'a' }, key: id }, true],
      ]);
    });
  });

  it('listeners of a system event get a null accountability', async () => {
    const body = `
      filter('x.asked', (payload, meta, { accountability }) => ({ accountability }));`;
    await hook(body, async () => {
      const { events } = testService.deps;
      const caller = publicCaller({ ip: '1.2.3.4' });
      expect(await events.filter(['x.asked'], {}, { caller })).to.deep.equal({
        accountability: {
          user: null,
          role: null,
          admin: false,
          app: false,
          ip: '1.2.3.4',
          userAgent: null,
          origin: null,
        },
      });
      await hook(`tell(await context.emitter.emitFilter('x.asked', {}))`, async () => {
        expect(extensionReports).to.deep.equal([{ accountability: null }]);
      });
    });
  });

  it('a filter that throws rejects the request with its status and rolls the write back', async () => {
    const body = `
      const { exceptions } = context;
      filter('notes.items.create', async (payload, meta, { database }) => {
        await database('traces').insert({ text: payload.text });
        if (payload.text === 'payload') throw new exceptions.InvalidPayloadException('not this');
        if (payload.text === 'teapot') throw new exceptions.BaseException('short', 418, 'TEAPOT');
        if (payload.text === 'error') throw new Error('secret');
      });`;
    await hook(body, async () => {
      const outcomes = await Promise.all(
        ['payload', 'teapot', 'error'].map(async (text) => {
          const { status, body: reply } = await create({ text });
          return [status, reply.errors[0].extensions.code];
        }),
      );
      expect(outcomes).to.deep.equal([
        [400, 'INVALID_PAYLOAD'],
        [418, 'TEAPOT'],
        [500, 'INTERNAL_SERVER_ERROR'],
      ]);
      expect([await notes(), await testService.database.query('select * from traces')]).to.deep.equal([[], []]);
      await create({ text: 'good' });
      expect(await testService.database.query('select * from traces')).to.deep.equal([{ text: 'good' }]);
    });
  });

  it('services in a filter run in the transaction of the write', async () => {
    const body = `
      const { ItemsService } = context.services;
      filter('notes.items.create', async (payload, meta, { schema, accountability, database }) => {
        if (payload.size) return;
        await new ItemsService('notes', { schema, accountability, knex: database }).createOne({ text: 'beside', size: 1 });
        if (payload.text === 'bad') throw new Error('no');
      });`;
    await hook(body, async () => {
      await create({ text: 'bad' });
      expect(await notes()).to.deep.equal([]);
      await create({ text: 'good' });
      expect(await notes()).to.deep.equal([
        { text: 'beside', size: 1 },
        { text: 'good', size: null },
      ]);
    });
  });

  it('a failing action is only logged', async () => {
    await hook(`action('items.create', () => { throw new Error('on purpose'); })`, async () => {
      expect((await create({ text: 'a' })).status).to.equal(200);
      await until(() => testService.log.some((line) => line.msg === 'an action failed'));
    });
  });

  it('filters of read and query events change rows and queries', async () => {
    await testService.database.query(`insert into notes (text) values ('a'), ('b')`);
    const body = `
      filter('notes.items.query', (query) => ({ ...query, sort: ['-id'] }));
      filter('notes.items.read', (rows) => rows.map((row) => ({ ...row, text: row.text + '!' })));`;
    const read = async () =>
      (await testService.request('GET', '/items/notes', { token: testService.admin })).body.data.map(
        (row: { text: string }) => row.text,
      );
    await hook(body, async () => expect(await read()).to.deep.equal(['b!', 'a!']));
    expect(await read()).to.deep.equal(['a', 'b']);
  });

  it('a hook that causes its own event ends at the depth limit', async () => {
    const body = `filter('x.round', (payload) => context.emitter.emitFilter('x.round', payload));`;
    await hook(body, async () => {
      const failed = await captureError<{ code: string }>(
        testService.deps.events.filter(['x.round'], 1, { caller: publicCaller() }),
      );
      expect(failed.code).to.equal('EVENT_LOOP_DETECTED');
    });
  });

  it('the emitter passes events between extensions until off() is called', async () => {
    const body = `
      const { emitter } = context;
      const loud = (payload) => payload + '!';
      emitter.onFilter('x.say', loud);
      emitter.onAction('x.said', (meta) => tell(['action', meta]));
      emitter.onInit('x.begin', (meta) => tell(['init', meta]));
      tell(await emitter.emitFilter(['x.say', 'x.other'], 'a', {}, { accountability: null }));
      emitter.offFilter('x.say', loud);
      tell(await emitter.emitFilter('x.say', 'a'));
      emitter.emitAction('x.said', { word: 'a' });
      await emitter.emitInit('x.begin', { app: 1 });`;
    await hook(body, async () => {
      await until(() => extensionReports.length === 4);
      expect(extensionReports.slice(0, 2)).to.deep.equal(['a!', 'a']);
      expect(extensionReports).to.deep.include(['action', { event: 'x.said', word: 'a' }]);
      expect(extensionReports).to.deep.include(['init', { event: 'x.begin', app: 1 }]);
    });
  });

  it('init handlers run in order, and a failing one does not stop the others', async () => {
    const body = `
      for (const event of ['app.after', 'routes.custom.before', 'app.before']) init(event, (meta) => tell(meta));
      init('app.before', () => { throw new Error('no'); });`;
    await hook(
      body,
      async () => {
        await runInitHandlers(testService.deps, SERVICE_INIT_EVENTS);
        expect(extensionReports).to.deep.equal([
          { event: 'app.before' },
          { event: 'routes.custom.before' },
          { event: 'app.after' },
        ]);
        expect(testService.log.some((line) => line.extension === 'initial' && line.event === 'app.before')).to.equal(
          true,
        );
      },
      'initial',
    );
    await runInitHandlers(testService.deps, ['app.before']);
    expect(extensionReports).to.have.length(3);
  });

  it('embed adds to the head and body of the admin page', async () => {
    const body = `
      embed('head', '<meta name="a">');
      embed('body', () => '<i>b</i>');
      embed('body', '');
      embed('foot', 'x');
      embed('head', () => { throw new Error('no'); });
      embed('head', () => 7);`;
    await hook(body, async () => {
      expect(renderAdminPageEmbeds(testService.deps)).to.deep.equal({ head: '<meta name="a">', body: '<i>b</i>' });
      expect(
        testService.log.filter((line) => String(line.msg).startsWith('something embedded is left out')),
      ).to.have.length(2);
    });
    expect(renderAdminPageEmbeds(testService.deps)).to.deep.equal({ head: '', body: '' });
  });
});
