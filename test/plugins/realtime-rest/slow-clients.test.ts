import { expect } from 'chai';
import { createMessageQueue } from '../../../plugins/realtime/library.ts';
import { openAuthenticated } from '../../support/realtime-client.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

describe('answers of the REST-style socket', function () {
  this.timeout(60_000);
  let service: InProcessService;
  before(async () => {
    service = await startService({ env: { WEBSOCKETS_ENABLED: 'true' } });
    await service.database.query(
      `create table long (id serial primary key, text text);
       insert into long (text) select repeat('long ', 20000) from generate_series(1, 50);
       create sequence reads;
       create view counted as
         select id, text from (select nextval('reads'), 1 as id) one, (select repeat('x', 1000000) as text) two`,
    );
  });
  after(() => service?.stop());

  it('wait until the client has read the answers before', async () => {
    const count = 40;
    const read = { type: 'items', action: 'read', collection: 'counted' };
    const slow = await openAuthenticated(service.url, service.admin.token);
    const other = await openAuthenticated(service.url, service.admin.token);
    const stream = (slow.socket as unknown as { _socket: { pause(): void; resume(): void } })._socket;
    stream.pause();
    for (let at = 0; at < count; at++) slow.send({ ...read, uid: at });
    for (let at = 0; at < count; at++) await other.ask(read);
    // The operating system holds some megabytes of the 40 that the slow client has asked for.
    const [row] = await service.database.query('select last_value from reads');
    expect(Number(row?.last_value)).to.be.within(count + 1, count + count / 2);
    stream.resume();
    await slow.next(({ uid }) => uid === count - 1);
    for (const one of [slow, other]) one.close();
  });

  for (const limit of [-1, 50])
    it(`are INVALID_QUERY for a list that is too long, with the limit ${limit}`, async () => {
      const client = await openAuthenticated(service.url, service.admin.token);
      const query = { limit };
      for (const message of [{ type: 'items', action: 'read' }, { type: 'subscribe' }]) {
        const answer = await client.ask({ ...message, collection: 'long', query });
        expect([answer.status, answer.error?.code], message.type).to.deep.equal(['error', 'INVALID_QUERY']);
      }
      const ids = Array.from({ length: 50 }, (_, at) => at + 1);
      const byKeys = await client.ask({ type: 'items', action: 'read', collection: 'long', ids });
      expect(byKeys.error?.code).to.equal('INVALID_QUERY');
      const short = await client.ask({ type: 'items', action: 'read', collection: 'long', query: { limit: 2 } });
      expect(short.data).to.have.length(2);
      client.close();
    });

  it('are INVALID_PAYLOAD for a "uid" of more than 256 characters', async () => {
    const client = await openAuthenticated(service.url, service.admin.token);
    expect((await client.ask({ type: 'ping', uid: 'x'.repeat(256) })).type).to.equal('pong');
    client.send({ type: 'ping', uid: 'x'.repeat(257) });
    expect((await client.next(({ type }) => type === 'server')).error.code).to.equal('INVALID_PAYLOAD');
    client.close();
  });
});

describe('the queue of messages of a socket', () => {
  const MEGABYTE = 'x'.repeat(1_048_576);

  /** How many of the texts a queue takes while the first one is handled; afterwards it takes one more. */
  async function countTaken(isAuthenticated: boolean, texts: readonly string[]): Promise<number> {
    const first = Promise.withResolvers<void>();
    const handled: string[] = [];
    const queue = createMessageQueue({ isAuthenticated }, async (text) => {
      handled.push(text);
      await first.promise;
    });
    queue.push('first');
    const taken = texts.filter((text) => queue.push(text)).length;
    first.resolve();
    await until(() => handled.length === taken + 1);
    expect(queue.push('last')).to.equal(true);
    return taken;
  }
  const times = (count: number, text: string) => Array.from({ length: count }, () => text);

  it('holds 200 messages', async () => {
    expect(await countTaken(true, times(300, 'x'))).to.equal(200);
    expect(await countTaken(false, times(300, 'x'))).to.equal(200);
  });

  it('holds 2 MB of a client that has authenticated, or one message that is larger', async () => {
    expect(await countTaken(true, times(10, MEGABYTE))).to.equal(2);
    expect(await countTaken(true, [MEGABYTE.repeat(3), 'x'])).to.equal(1);
  });

  it('holds 256 KB of a client that has not', async () => {
    expect(await countTaken(false, [MEGABYTE, ...times(10, 'x'.repeat(65_536))])).to.equal(4);
  });

  it('counts bytes of texts', async () => {
    expect(await countTaken(false, times(10, '€'.repeat(65_536)))).to.equal(1);
  });
});
