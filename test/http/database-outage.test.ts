import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startDatabaseServerIn } from '../support/database-server.ts';
import { type SpawnedService, spawnService } from '../support/service.ts';
import { until } from '../support/until.ts';

const REQUESTS = 400;

describe('the log during a database outage', function () {
  this.timeout(180_000);
  let folder: string;
  let front: Server;
  let port: number | undefined;
  let server: Awaited<ReturnType<typeof startDatabaseServerIn>>;
  let service: SpawnedService;
  const sockets = new Set<Socket>();

  /** Starts PostgreSQL, each time on another port. The service connects through a proxy, whose address stays the same. */
  async function startDatabase(): Promise<void> {
    server = await startDatabaseServerIn(folder);
    port = Number(new URL(server.url).port);
  }
  async function stopDatabase(): Promise<void> {
    port = undefined;
    for (const socket of sockets) socket.destroy();
    await server.stop();
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-outage-'));
    await chmod(folder, 0o711);
    await startDatabase();
    front = createServer((socket) => {
      if (port === undefined) return void socket.destroy();
      const back = connect(port, '127.0.0.1');
      for (const [one, other] of [
        [socket, back],
        [back, socket],
      ] as const) {
        sockets.add(one);
        one.on('error', () => other.destroy()).on('close', () => sockets.delete(one) && other.destroy());
        one.pipe(other);
      }
    }).listen(0, '127.0.0.1');
    await once(front, 'listening');
    const url = new URL(server.url);
    url.host = `127.0.0.1:${(front.address() as AddressInfo).port}`;
    const database = { name: 'postgres', url: url.href, query: async () => [], drop: async () => {} };
    service = await spawnService({ database, env: { LOG_LEVEL: 'warn' } });
  });
  after(async () => {
    await service?.stop();
    front?.close();
    for (const socket of sockets) socket.destroy();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const linesWith = (text: string) =>
    service
      .output()
      .split('\n')
      .filter((line) => line.includes(text));

  it('the log has one line for the outage, one for its end, and no stack for each request', async () => {
    await stopDatabase();
    const before = service.output().length;
    for (let round = 0; round < REQUESTS / 20; round++) {
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => service.request('GET', '/users', { token: 'any' })),
      );
      for (const { status } of replies) expect(status).to.equal(503);
    }
    const written = service.output().slice(before);
    expect(linesWith('no connection to the database')).to.have.length.within(1, 2);
    expect(Buffer.byteLength(written), written.slice(0, 4000)).to.be.below(REQUESTS * 100);
    expect(written.match(/"stack"/g) ?? []).to.have.length.below(20);
    await startDatabase();
    await until(
      async () => (await service.request('GET', '/server/health')).status === 200 && linesWith('reached again')[0],
    );
    expect(linesWith('reached again')).to.have.length(1);
  });
});
