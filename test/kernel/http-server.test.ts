import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type BootFailure, facet } from '#kernel';
import { renderBootFailure } from '../../scripts/render-boot-failure.ts';
import { createSender } from '../support/send.ts';
import {
  captureError,
  silentSettings,
  type TestPlugin,
  withBootedTestPlugins,
  writeTestPluginPackages,
} from '../support/test-plugins.ts';
import { until } from '../support/until.ts';

/** A plugin whose middleware holds every request until the test calls `release`. */
function slowPlugin(): {
  plugin: TestPlugin;
  entered: Promise<unknown>;
  release: () => void;
} {
  const entered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const plugin: TestPlugin = {
    name: 'slow',
    manifest: { contributes: { 'http.middleware': { phases: ['route'] } } },
    register: (host) =>
      host.contribute(facet('http.middleware'), {
        name: 'slow',
        phase: 'route',
        handle: async (ctx: { body: unknown }) => {
          entered.resolve();
          await gate.promise;
          ctx.body = 'done';
        },
      }),
  };
  return { plugin, entered: entered.promise, release: gate.resolve };
}

describe('HTTP server of the kernel', () => {
  it('stop() lets running requests end and accepts no new ones', async () => {
    const { plugin, entered, release } = slowPlugin();
    let isStopping = false;
    const listener: TestPlugin = {
      name: 'listener',
      manifest: { capabilities: { events: { action: ['server.stop'] } } },
      register: (host) => host.events.onAction('server.stop', () => (isStopping = true)),
    };
    await withBootedTestPlugins([plugin, listener], async ({ kernel }) => {
      const { port } = await kernel.listen();
      const running = createSender(`http://127.0.0.1:${port}`)('GET', '/');
      await entered;
      expect(isStopping).to.equal(false);
      const stopped = kernel.stop();
      expect(isStopping, 'listeners know it at once').to.equal(true);
      const refused = connect(port, '127.0.0.1');
      const [error] = await once(refused, 'error');
      expect(error.code).to.equal('ECONNREFUSED');
      release();
      const reply = await running;
      expect([reply.status, reply.body]).to.deep.equal([200, 'done']);
      const answered = performance.now();
      await stopped;
      expect(performance.now() - answered, 'the kept connection is not waited for').to.be.below(5000);
    });
  });

  it('stop() fails no request of clients with kept connections: each learns by Connection: close that it is the last one', async () => {
    const plugin: TestPlugin = {
      name: 'quick',
      manifest: { contributes: { 'http.middleware': { phases: ['route'] } } },
      register: (host) =>
        host.contribute(facet('http.middleware'), {
          name: 'quick',
          phase: 'route',
          handle: (ctx: { body: unknown }) => void (ctx.body = 'done'),
        }),
    };
    let answered = 0;
    /** Sends requests one after the other over one connection until an answer closes it; answers their number. */
    async function runClient(port: number): Promise<number> {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let count = 1; ; count++) {
        answered++;
        const [reply] = (await once(get({ port, agent, host: '127.0.0.1' }), 'response')) as [IncomingMessage];
        await once(reply.resume(), 'end');
        expect(reply.statusCode).to.equal(200);
        if (reply.headers.connection === 'close') return count;
        await pause(Math.random() * 20);
      }
    }
    await withBootedTestPlugins(
      [plugin],
      async ({ kernel }) => {
        const { port } = await kernel.listen();
        const clients = Array.from({ length: 20 }, () => runClient(port));
        // Each has kept its connection.
        await until(() => answered >= 60);
        const stopped = kernel.stop();
        // A client that does not know yet connects anew.
        expect(await runClient(port)).to.equal(1);
        for (const count of await Promise.all(clients)) expect(count).to.be.above(1);
        await stopped;
        const [error] = await once(connect(port, '127.0.0.1'), 'error');
        expect(error.code).to.equal('ECONNREFUSED');
      },
      { environment: { SERVER_SHUTDOWN_DELAY: '1s' } },
    );
  });

  it('headers must arrive within a minute; bodies have no limit of the kernel', async () => {
    await withBootedTestPlugins([], async ({ kernel }) => {
      const { server } = await kernel.listen();
      expect([server.headersTimeout, server.requestTimeout, server.keepAliveTimeout]).to.deep.equal([60_000, 0, 5000]);
    });
  });

  it('a connection whose headers take longer than SERVER_HEADERS_TIMEOUT is answered 408 and closed', async () => {
    await withBootedTestPlugins(
      [],
      async ({ kernel }) => {
        const { port } = await kernel.listen();
        const socket = connect(port, '127.0.0.1');
        socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
        let answer = '';
        socket.on('data', (part) => (answer += part));
        await once(socket, 'close');
        expect(answer).to.match(/^HTTP\/1\.1 408 /);
      },
      { environment: { SERVER_HEADERS_TIMEOUT: '200ms' } },
    );
  });

  it('a connection without a request is closed after SERVER_KEEP_ALIVE_TIMEOUT, which its answers name', async () => {
    await withBootedTestPlugins(
      [],
      async ({ kernel }) => {
        const { port } = await kernel.listen();
        const socket = connect(port, '127.0.0.1');
        socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
        let answer = '';
        socket.on('data', (part) => (answer += part));
        await once(socket, 'end');
        expect(answer).to.match(/^HTTP\/1\.1 404 .*\r\nKeep-Alive: timeout=1\r\n/s);
      },
      { environment: { SERVER_KEEP_ALIVE_TIMEOUT: '1s' } },
    );
  });

  it('listens on UNIX_SOCKET_PATH in place of HOST and PORT, and removes the socket when it stops', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-socket-'));
    const socketPath = join(folder, 'tenon.sock');
    try {
      await withBootedTestPlugins(
        [],
        async ({ kernel }) => {
          const { address } = await kernel.listen();
          expect(address).to.equal(`unix:${socketPath}`);
          const request = get({ socketPath, path: '/nothing' });
          const [response] = await once(request, 'response');
          expect(response.statusCode).to.equal(404);
          response.resume();
          await kernel.stop();
          expect(existsSync(socketPath)).to.equal(false);
        },
        { environment: { UNIX_SOCKET_PATH: socketPath, PORT: '1' } },
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('listen() reports a socket in use with a remedy', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-socket-'));
    const path = join(folder, 'tenon.sock');
    const other = createServer().listen(path);
    await once(other, 'listening');
    try {
      await withBootedTestPlugins(
        [],
        async ({ kernel }) => {
          const { message, remedy } = await captureError<BootFailure>(kernel.listen());
          expect([message, remedy]).to.deep.equal([`${path} is in use`, 'set UNIX_SOCKET_PATH to a free one']);
        },
        { environment: { UNIX_SOCKET_PATH: path } },
      );
    } finally {
      other.close();
      await rm(folder, { recursive: true });
    }
  });

  it('stop() aborts requests that run longer than SERVER_SHUTDOWN_TIMEOUT', async () => {
    const { plugin, entered, release } = slowPlugin();
    await withBootedTestPlugins(
      [plugin],
      async ({ kernel }) => {
        const { port } = await kernel.listen();
        const running = fetch(`http://127.0.0.1:${port}/`).catch((error) => error);
        await entered;
        await kernel.stop();
        expect(await running).to.be.instanceOf(Error);
        release();
      },
      { environment: { SERVER_SHUTDOWN_TIMEOUT: '30' } },
    );
  });

  it('stop() waits until aborted requests have undone what they began', async () => {
    const entered = Promise.withResolvers<void>();
    let isUndone = false;
    const undoing: TestPlugin = {
      name: 'undoing',
      manifest: { contributes: { 'http.middleware': { phases: ['route'] } } },
      register: (host) =>
        host.contribute(facet('http.middleware'), {
          name: 'undoing',
          phase: 'route',
          handle: async ({ res }: { res: ServerResponse }) => {
            entered.resolve();
            await once(res, 'close');
            await pause(300);
            isUndone = true;
          },
        }),
    };
    await withBootedTestPlugins(
      [undoing],
      async ({ kernel }) => {
        const { port } = await kernel.listen();
        const cut = fetch(`http://127.0.0.1:${port}/`).catch((error) => error);
        await entered.promise;
        await kernel.stop();
        expect(isUndone).to.equal(true);
        expect(await cut).to.be.instanceOf(Error);
      },
      { environment: { SERVER_SHUTDOWN_TIMEOUT: '30' } },
    );
  });

  it('an upgrade of any target that none takes over is answered 404, and ends no process when the client resets', async () => {
    const taker: TestPlugin = {
      name: 'taker',
      manifest: { contributes: { 'http.upgrade': { paths: ['/taken'] } } },
      register: (host) =>
        host.contribute(facet('http.upgrade'), {
          path: '/taken',
          handle: (_request: IncomingMessage, socket: Duplex) => socket.end('taken'),
        }),
    };
    await withBootedTestPlugins([taker], async ({ kernel }) => {
      const { port } = await kernel.listen();
      const head = (target: string) =>
        `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
      const answerTo = async (target: string) => {
        const socket = connect(port, '127.0.0.1').setEncoding('utf8');
        socket.write(head(target));
        let text = '';
        for await (const part of socket) text += part;
        return text.split('\r\n')[0];
      };
      for (const target of ['//', '//[', 'http://[bad/', '/unknown', '*', '/%zz'])
        expect(await answerTo(target), target).to.equal('HTTP/1.1 404 Not Found');
      for (const target of ['/taken', '/taken?a=1']) expect(await answerTo(target), target).to.equal('taken');
      for (let count = 0; count < 50; count++) {
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect');
        socket.write(head('/unknown'), () => socket.resetAndDestroy());
        await once(socket, 'close');
      }
      expect(await answerTo('/taken')).to.equal('taken');
      // One that does not close its side is cut off: a reset answers whatever it still sends.
      const idle = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      idle.write(head('/unknown'));
      await once(idle.resume(), 'end');
      let code: string | undefined;
      idle.on('error', (error: NodeJS.ErrnoException) => (code = error.code));
      await until(() => code !== undefined || (idle.write('x'), undefined));
      expect(code).to.be.oneOf(['ECONNRESET', 'EPIPE']);
    });
  });

  it('listen() reports a port in use with a remedy', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    try {
      await withBootedTestPlugins(
        [],
        async ({ kernel }) => {
          const failure = await captureError<BootFailure>(kernel.listen());
          expect(renderBootFailure(failure)).to.equal(
            [
              'Tenon could not start.',
              '  plugin:  kernel',
              '  phase:   listen',
              `  reason:  port ${port} on 127.0.0.1 is in use`,
              '  remedy:  set PORT (or HOST) to a free one',
            ].join('\n'),
          );
        },
        { environment: { PORT: String(port) } },
      );
    } finally {
      other.close();
    }
  });

  it('the command line prints each line of a multi-line reason on a line of its own', async () => {
    const failure = await captureError<BootFailure>(
      withBootedTestPlugins([], () => {}, { environment: { PORT: 'x', LOG_LEVEL: 'loud' } }),
    );
    const [title, plugin, phase, first, second] = renderBootFailure(failure).split('\n');
    expect([title, plugin, phase]).to.deep.equal(['Tenon could not start.', '  plugin:  kernel', '  phase:   config']);
    expect(first).to.equal('  reason:  PORT must be a whole number');
    expect(second).to.match(/^ {11}LOG_LEVEL must be one of/);
  });

  it('a stopped kernel keeps no handle that keeps the process alive', async () => {
    const { composition, remove } = await writeTestPluginPackages([]);
    const kernel = new URL('../../kernel/boot.ts', import.meta.url).href;
    const script = `
      const { boot } = await import(${JSON.stringify(kernel)});
      const kernel = await boot(${JSON.stringify({ ...composition })}, { environment: ${JSON.stringify(silentSettings)} });
      await kernel.migrate(); await kernel.start();
      const { address } = await kernel.listen();
      console.log((await fetch(address.replace('localhost', '127.0.0.1'))).status);
      await kernel.stop();
      console.log('stopped');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
    const [code] = await once(child, 'close');
    await remove();
    expect([output, code]).to.deep.equal(['404\nstopped\n', 0]);
  });
});
