import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freshDatabase } from '../support/database.ts';
import { FIRST_ADMIN_CREDENTIALS, runCli, spawnService, startService } from '../support/service.ts';

describe('lifecycle of the service process', function () {
  this.timeout(120_000);

  it('the service starts on an empty database, and again on the migrated one', async () => {
    const database = await freshDatabase('twice');
    try {
      for (let time = 0; time < 2; time++) {
        const service = await startService({ database });
        const health = await service.request('GET', '/server/ping');
        await service.stop();
        expect(health.status).to.equal(200);
      }
    } finally {
      await database.drop();
    }
  });

  it('the process ends by itself after stop()', async () => {
    const database = await freshDatabase('ends');
    const data = await mkdtemp(join(tmpdir(), 'tenon-data-'));
    const kernel = new URL('../../kernel/boot.ts', import.meta.url).href;
    const preset = new URL('../../plugins/core-plugins.ts', import.meta.url).href;
    const script = `
      const { boot } = await import('${kernel}');
      const { listCorePlugins } = await import('${preset}');
      const kernel = await boot(listCorePlugins());
      await kernel.migrate(); await kernel.start(); await kernel.listen(); await kernel.stop();
      console.log('stopped');`;
    const env = {
      PATH: process.env.PATH,
      CONFIG_PATH: '/dev/null',
      EXTENSIONS_PATH: '/dev/null',
      DATA_PATH: data,
      DB_CONNECTION_STRING: database.url,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'error',
      SECRET: 'a secret that only tests know, long enough',
      ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
      ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
    };
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
    const [code] = await once(child, 'close');
    await database.drop();
    await rm(data, { recursive: true, force: true });
    expect([output, code]).to.deep.equal(['stopped\n', 0]);
  });

  it('the process exits with 0 on SIGTERM and SIGINT', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const service = await spawnService();
      expect(await service.kill(signal), service.output()).to.equal(0);
      await service.stop();
    }
  });

  it('a command that a signal interrupts does not exit with 0', async () => {
    const sockets: Socket[] = [];
    // Stands for a database server that accepts connections and never answers.
    const mute = createServer((socket) => void sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
    try {
      await once(mute, 'listening');
      const { port } = mute.address() as { port: number };
      const run = runCli(['bootstrap'], {
        CONFIG_PATH: '/dev/null',
        EXTENSIONS_PATH: '/dev/null',
        DB_CONNECTION_STRING: `postgres://none@127.0.0.1:${port}/none`,
      });
      await once(mute, 'connection');
      run.child.kill('SIGTERM');
      expect(await run.ended, run.output()).to.equal(143);
    } finally {
      mute.close();
      for (const socket of sockets) socket.destroy();
    }
  });

  it('bootstrap exits with 0, also when it runs again', async () => {
    const database = await freshDatabase('bootstrap');
    const env = {
      CONFIG_PATH: '/dev/null',
      EXTENSIONS_PATH: '/dev/null',
      DB_CONNECTION_STRING: database.url,
      SECRET: 'a secret that only tests know, long enough',
      ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
      ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
    };
    try {
      for (let time = 0; time < 2; time++) {
        const run = runCli(['bootstrap'], env);
        expect(await run.ended, run.output()).to.equal(0);
      }
      const users = await database.query('select email from platform_users');
      expect(users).to.deep.equal([{ email: FIRST_ADMIN_CREDENTIALS.email }]);
    } finally {
      await database.drop();
    }
  });

  it('start without a database prints the cause and exits with an error', async () => {
    const run = runCli(['start'], {
      CONFIG_PATH: '/dev/null',
      DB_CONNECTION_STRING: 'postgres://none@127.0.0.1:1/none',
      LOG_LEVEL: 'error',
    });
    expect(await run.ended).not.to.equal(0);
    expect(run.output())
      .to.contain('Tenon could not start.')
      .and.match(/plugin: .*database/)
      .and.match(/remedy: /);
  });
});
