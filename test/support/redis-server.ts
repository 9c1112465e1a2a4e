import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { unpackDebianPackages } from './debian-packages.ts';
import { findFreePort } from './free-port.ts';
import { until } from './until.ts';

/** A Redis of one test file, with nothing in it and nothing on disk. */
export interface TestRedis {
  readonly port: number;
  readonly url: string;
  /** Ends the server; `start` starts an empty one on the same port. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops and continues the process: connections stay open, and commands get no answer meanwhile. */
  freeze(): void;
  thaw(): void;
  /** The answer to one inline command, such as `CLIENT LIST`, as the server sends it. */
  command(text: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a Redis for the test: the program of the machine, or that of the Debian package, unpacked into `node_modules/.redis`. */
export async function startRedis(options: readonly string[] = []): Promise<TestRedis> {
  const { program, env } = await findRedisProgram();
  const folder = await mkdtemp(join(tmpdir(), 'tenon-redis-'));
  const port = await findFreePort();
  let child: ChildProcess | undefined;

  const command = (text: string) => sendInlineCommand(port, text);
  async function start(): Promise<void> {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder, ...options];
    child = spawn(program, args, { stdio: 'ignore', env: { ...process.env, ...env } });
    await until(async () => /PONG|NOAUTH/.test(await command('PING').catch(() => '')));
  }
  async function kill(): Promise<void> {
    if (!child) return;
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    child = undefined;
    await ended;
  }

  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    start,
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    command,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function findRedisProgram(): Promise<{ readonly program: string; readonly env: Record<string, string> }> {
  const installed = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'redis-server'))
    .find(isExecutable);
  if (installed !== undefined) return { program: installed, env: {} };
  const { root, libraryPath } = await unpackDebianPackages({
    // The program is a link to a file of redis-tools.
    names: ['redis-server', 'redis-tools'],
    folder: '.redis',
    remedy: 'install redis-server.',
  });
  return { program: join(root, 'usr/bin/redis-server'), env: { LD_LIBRARY_PATH: libraryPath } };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function sendInlineCommand(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write(`${text}\r\nQUIT\r\n`);
    let answer = '';
    for await (const part of socket.setEncoding('utf8')) answer += part;
    return answer;
  } finally {
    socket.destroy();
  }
}
