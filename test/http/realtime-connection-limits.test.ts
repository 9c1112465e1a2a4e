import { expect } from 'chai';
import { openSocket, type RealtimeTestClient, refusedStatus } from '../support/realtime-client.ts';
import { type InProcessService, startService } from '../support/service.ts';

describe('limits of connections', function () {
  this.timeout(60_000);
  let service: InProcessService;
  const clients: RealtimeTestClient[] = [];
  const from = (address: string, headers: Record<string, string> = {}) => ({
    headers: { ...headers, 'x-client': address },
  });
  const open = async (address: string, path?: string): Promise<RealtimeTestClient> => {
    const client = await openSocket(service.url, path, from(address));
    clients.push(client);
    return client;
  };

  before(async () => {
    service = await startService({
      env: {
        ...{ WEBSOCKETS_ENABLED: 'true', WEBSOCKETS_REST_AUTH: 'public', IP_CUSTOM_HEADER: 'X-Client' },
        ...{ WEBSOCKETS_PUBLIC_CONN_LIMIT: '8', WEBSOCKETS_ADDRESS_CONN_LIMIT: '4' },
      },
    });
  });
  afterEach(async () => {
    for (const { socket } of clients) socket.close();
    for (const client of clients.splice(0)) await client.closed();
  });
  after(() => service?.stop());

  it('of one address count the /64 network of an IPv6 address as one', async () => {
    for (const host of ['1', '2']) await open(`2001:db8:1:1::${host}`);
    expect(await refusedStatus(service.url, '/websocket', from('2001:db8:1:1::3'))).to.equal(403);
    await open('2001:db8:1:2::1');
  });

  describe('while the public has all of its connections', () => {
    const path = () => `/websocket?access_token=${service.admin.token}`;
    beforeEach(async () => {
      for (let host = 1; host <= 8; host++) await open(`192.0.2.${1 + (host % 4)}`);
      expect(await refusedStatus(service.url, '/websocket', from('192.0.2.9'))).to.equal(403);
    });

    it('let a client with a valid token in', async () => {
      for (let at = 0; at < 4; at++) await open('192.0.2.9', path());
      expect(await refusedStatus(service.url, path(), from('192.0.2.9'))).to.equal(403);
      // Also one whose address has as many connections of the public as it may.
      await open('192.0.2.1', path());
    });

    it('refuse a client whose credentials are wrong or leave it the public', async () => {
      const [wrong, other] = ['/websocket?access_token=wrong', '/websocket'];
      expect(await refusedStatus(service.url, wrong, from('192.0.2.9'))).to.equal(401);
      const cookie = from('192.0.2.9', { cookie: 'theme=dark' });
      for (let at = 0; at < 10; at++) expect(await refusedStatus(service.url, other, cookie)).to.equal(403);
      await open('192.0.2.9', path());
    });
  });
});
