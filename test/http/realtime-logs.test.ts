import { expect } from 'chai';
import { openSocket, refusedStatus } from '../support/realtime-client.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions } from './test-users.ts';

describe('the socket for the log', function () {
  this.timeout(60_000);
  let service: InProcessService;
  const isLogs = ({ type, data }: { type: string; data?: unknown }) => type === 'logs' && data !== undefined;
  before(async () => {
    service = await startService({ env: { WEBSOCKETS_ENABLED: 'true', LOG_LEVEL: 'info' } });
  });
  after(() => service?.stop());

  it('sends an admin the lines of the log from a level on, until he unsubscribes', async () => {
    const client = await openSocket(service.url, `/websocket/logs?access_token=${service.admin.token}`);
    client.send({ type: 'subscribe', log_level: 'info' });
    const answer = await client.next(({ type }) => type === 'logs');
    expect(answer).to.deep.equal({ type: 'logs', event: 'subscribe', log_level: 'info' });
    await service.request('GET', '/server/ping?access_token=secret-token');
    const line = await client.next(isLogs);
    expect(line.data).to.include({ level: 30, owner: '@tenon/http' });
    expect(line.uid).to.be.a('string');
    expect(JSON.stringify(client.messages)).to.not.include('secret-token');
    client.send({ type: 'subscribe', log_level: 'error' });
    await client.next(({ log_level }) => log_level === 'error');
    const before = client.messages.length;
    await service.request('GET', '/server/ping');
    client.send({ type: 'unsubscribe' });
    await client.next(({ event }) => event === 'unsubscribe');
    expect(client.messages.slice(before).filter(isLogs)).to.deep.equal([]);
    client.send({ type: 'subscribe', log_level: 'loud' });
    expect((await client.next(({ status }) => status === 'error')).error.code).to.equal('INVALID_PAYLOAD');
    client.close();
  });

  it('is for admins only', async () => {
    const user = await createUserWithPermissions(service, []);
    expect(await refusedStatus(service.url, '/websocket/logs')).to.equal(401);
    const client = await openSocket(service.url, `/websocket/logs?access_token=${user.token}`);
    client.send({ type: 'subscribe' });
    expect(await client.closed()).to.equal(1008);
    expect(client.messages.map(({ error }) => error?.code)).to.include('FORBIDDEN');
    expect(client.messages.filter(isLogs)).to.deep.equal([]);
  });
});
