import { expect } from 'chai';
import { openAuthenticated, type RealtimeTestClient } from '../support/realtime-client.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { createNotes, startRealtimeService } from './realtime-fixture.ts';

describe('a client that comes back with a position', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let notes: ReturnType<typeof createNotes>;
  const clients: RealtimeTestClient[] = [];
  const sql = (text: string) => service.database.query(text);

  /** A client and the first message of its subscription. */
  async function subscribe(message: Record<string, unknown> = {}, at = service) {
    const client = await openAuthenticated(at.url, service.admin.token);
    clients.push(client);
    const query = { fields: ['title'] };
    const subscription = { type: 'subscribe', uid: 's', collection: 'note', query, positions: true, ...message };
    return { client, init: await client.ask(subscription) };
  }
  const countTriggers = async () =>
    (await sql(`select from pg_trigger where tgname like 'platform_row_feed%' and tgrelid = 'note'::regclass`)).length;

  before(async () => {
    service = await startRealtimeService();
    notes = createNotes(service);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await sql('delete from note');
  });
  after(() => service?.stop());

  it('reads again where the triggers were removed meanwhile, since no process needed them', async () => {
    // Gives this process a position before those of the other one.
    const known = await subscribe({ collection: 'platform_folders', query: {} });
    const other = await startService({ database: service.database, env: { WEBSOCKETS_ENABLED: 'true' } });
    const { init } = await subscribe({}, other);
    await other.stop();
    expect(await countTriggers()).to.equal(0);
    await sql(`insert into note (title) values ('unannounced')`);
    for (const since of [init.position, known.init.position]) {
      const { init: again } = await subscribe({ since });
      expect([again.resync, again.data]).to.deep.equal([true, [{ title: 'unannounced' }]]);
    }
  });

  it('reads again where a trigger was dropped by hand and is there again', async () => {
    const { client, init } = await subscribe();
    await client.ask({ type: 'unsubscribe', uid: 's' });
    await sql('drop trigger platform_row_feed_insert on note');
    await sql(`insert into note (title) values ('unannounced')`);
    const first = await subscribe();
    expect([first.init.resync, first.init.data]).to.deep.equal([undefined, [{ title: 'unannounced' }]]);
    expect(await countTriggers()).to.equal(4);
    const { init: again } = await subscribe({ since: init.position });
    expect([again.resync, again.data]).to.deep.equal([true, [{ title: 'unannounced' }]]);
    await first.client.settle();
    expect(first.client.messages.filter(({ resync }) => resync)).to.deep.equal([]);
  });

  /** Deletes a row, creates one and updates one, in one transaction. */
  async function changeRows() {
    const [gone, kept] = [await notes.create({ title: 'gone' }), await notes.create({ title: 'old' })];
    const changing = () =>
      sql(`begin; delete from note where id = ${gone.id}; insert into note (title) values ('new');
        update note set title = 'kept' where id = ${kept.id}; commit`);
    return { changing, gone: gone.id };
  }
  const positionsOf = ({ messages }: RealtimeTestClient) =>
    messages.flatMap(({ event, position }) => (event === undefined ? [] : [[event, position]]));

  it('has the rest of a batch before it, where the connection broke between its messages', async () => {
    const { changing, gone } = await changeRows();
    const { client, init } = await subscribe();
    await changing();
    const { position: end } = await client.next(({ event }) => event === 'update');
    expect(end).to.not.equal(init.position);
    const expected = [
      ['init', init.position],
      ['delete', init.position],
      ['create', init.position],
      ['update', end],
    ];
    expect(positionsOf(client)).to.deep.equal(expected);
    const { client: back } = await subscribe({ since: init.position });
    await back.next(({ event }) => event === 'update');
    expect(positionsOf(back)).to.deep.equal(expected);
    expect(back.messages.find(({ event }) => event === 'delete')?.data).to.deep.equal([gone]);
  });

  it('with "leaving" reads again where rows before an update were not announced, and others do not', async () => {
    const filter = { kind: { _eq: 'in' } };
    const query = { fields: ['title'], filter };
    const { id } = await notes.create({ title: 'a', kind: 'in' });
    const { client, init } = await subscribe({ query });
    await notes.update(id, { kind: 'out' });
    await notes.create({ title: 'b', kind: 'in' });
    await client.next(({ event }) => event === 'create');
    const { init: again } = await subscribe({ query, leaving: true, since: init.position });
    expect([again.resync, again.data]).to.deep.equal([true, [{ title: 'b' }]]);
    await notes.create({ title: 'c', kind: 'in' });
    await client.next(({ data }) => data?.[0]?.title === 'c');
    expect(client.messages.filter(({ resync }) => resync)).to.deep.equal([]);
    // From here on they are announced.
    const { init: later } = await subscribe({ query, leaving: true });
    const { id: leaver } = await notes.create({ title: 'd', kind: 'in' });
    await notes.update(leaver, { kind: 'out' });
    const last = await subscribe({ query, leaving: true, since: later.position });
    expect(last.init.resync).to.equal(undefined);
  });
});
