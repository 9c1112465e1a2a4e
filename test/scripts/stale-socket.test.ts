import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { removeStaleSocket } from '../../scripts/stale-socket.ts';

/** Listens on a socket in a process of its own, until it is killed. */
async function listenIn(path: string): Promise<ChildProcess> {
  const code = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('listens'))`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

describe('removeStaleSocket', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-socket-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('removes the socket of a killed process, and none that is answered', async () => {
    const path = join(folder, 'tenon.sock');
    const child = await listenIn(path);
    await removeStaleSocket(path);
    expect(existsSync(path), 'while a process listens').to.equal(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(path), 'a killed process leaves it').to.equal(true);
    await removeStaleSocket(path);
    expect(existsSync(path)).to.equal(false);
  });

  it('leaves files of other kinds, and does nothing where there is none', async () => {
    const path = join(folder, 'a-file');
    await writeFile(path, 'precious');
    await removeStaleSocket(path);
    await removeStaleSocket(join(folder, 'nothing'));
    await removeStaleSocket(undefined);
    expect(existsSync(path)).to.equal(true);
  });
});
