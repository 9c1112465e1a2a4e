import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type ListenOptions } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Canary resources that every process of the machine may use and that a confined child must not reach. */
export interface ConfinementCanary {
  /** A world-readable file with this text. */
  readonly file: string;
  readonly text: string;
  /** A world-writable folder. */
  readonly folder: string;
  /** Listening sockets: TCP on the loopback, a Unix socket by path, and on Linux an abstract one. */
  readonly listeners: readonly ListenOptions[];
  /** A UDP port on the loopback. */
  readonly port: number;
  /** True once a connection or datagram has arrived or a file was written into the folder. */
  isTouched(): boolean;
  close(): Promise<void>;
}

export async function createConfinementCanary(): Promise<ConfinementCanary> {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-canary-'));
  chmodSync(folder, 0o777);
  const text = randomUUID();
  const file = join(folder, 'file');
  writeFileSync(file, text, { mode: 0o644 });
  let arrivals = 0;
  const listenOptions: readonly ListenOptions[] = [
    { host: '127.0.0.1', port: 0 },
    ...(process.platform === 'win32' ? [] : [{ path: join(folder, 'socket'), readableAll: true, writableAll: true }]),
    ...(process.platform === 'linux' ? [{ path: `\0tenon-${text}` }] : []),
  ];
  const servers = listenOptions.map(() =>
    createServer((socket) => {
      arrivals += 1;
      socket.on('error', () => {}).destroy();
    }),
  );
  const udp = createSocket('udp4', () => {
    arrivals += 1;
  });
  const close = async () => {
    udp.close();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    rmSync(folder, { recursive: true, force: true });
  };
  const results = await Promise.allSettled([
    ...servers.map((server, index) => once(server.listen(listenOptions[index]), 'listening')),
    once(udp.bind(0, '127.0.0.1'), 'listening'),
  ]);
  const failed = results.find((one) => one.status === 'rejected');
  if (failed) {
    await close();
    throw failed.reason;
  }
  const before = readdirSync(folder).length;
  return {
    ...{ file, text, folder },
    listeners: listenOptions.map((one, index) =>
      one.path === undefined
        ? { host: '127.0.0.1', port: (servers[index]?.address() as AddressInfo | undefined)?.port }
        : one,
    ),
    port: udp.address().port,
    isTouched: () => arrivals > 0 || readdirSync(folder).length !== before,
    close,
  };
}
