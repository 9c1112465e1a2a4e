import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, lstat, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createLog } from '../../../kernel/log.ts';
import { findPostgresBinaries } from '../../../plugins/database/embedded/binaries.ts';
import { findPostgresClusterLocation } from '../../../plugins/database/embedded/cluster-location.ts';
import { isProcessAlive } from '../../../plugins/database/embedded/postmaster.ts';
import { openEmbeddedPostgresServer } from '../../../plugins/database/embedded/server.ts';

interface Running {
  readonly port: number;
  readonly started: string;
  readonly folder: string;
  readonly listens: string;
  readonly upper: string;
}

const script = fileURLToPath(new URL('embedded-child.ts', import.meta.url));
const isRoot = process.getuid?.() === 0;

describe('the embedded server', function () {
  this.timeout(120_000);
  const children = new Set<ChildProcess>();
  const folders: string[] = [];

  /** Creates a data folder, by default one that the operating system user of the PostgreSQL server may enter. */
  async function folder(mode = 0o711, parent = tmpdir()): Promise<string> {
    const path = await realpath(await mkdtemp(join(parent, 'tenon-embedded-')));
    await chmod(path, mode);
    folders.push(path);
    return path;
  }

  async function start(data: string): Promise<Running & { child: ChildProcess; notices: () => string }> {
    const child = spawn(process.execPath, [script, data], { stdio: ['ignore', 'pipe', 'pipe'] });
    children.add(child);
    let notices = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (notices += text));
    const ended = once(child, 'exit').then(([code]) => {
      children.delete(child);
      throw new Error(`it ended with ${code}: ${notices}`);
    });
    ended.catch(() => {});
    const [line] = (await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), ended])) as [string];
    return { ...(JSON.parse(line) as Running), child, notices: () => notices };
  }

  async function end({ child }: { child: ChildProcess }, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    child.kill(signal);
    await once(child, 'exit');
  }

  const serverPid = async (data: string): Promise<number | undefined> => {
    const text = await readFile(join(data, 'postgres', 'postmaster.pid'), 'utf8').catch(() => undefined);
    return text === undefined ? undefined : Number(text.split('\n')[0]);
  };

  afterEach(async () => {
    await Promise.all([...children].map((child) => end({ child })));
    for (const data of folders.splice(0)) {
      const cluster = await realpath(join(data, 'postgres')).catch(() => undefined);
      const pid = await serverPid(data);
      if (pid !== undefined && isProcessAlive(pid)) process.kill(pid, 'SIGQUIT');
      if (cluster && !cluster.startsWith(data)) await rm(dirname(cluster), { recursive: true, force: true });
      await rm(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
  });

  it('the first start creates the cluster, the last process stops it, and the second start is faster', async () => {
    const data = await folder();
    const started = performance.now();
    const first = await start(data);
    const took = performance.now() - started;
    expect(first).to.include({ listens: '127.0.0.1', upper: 'Ä', folder: join(data, 'postgres') });
    expect((await stat(join(data, 'postgres.password'))).mode & 0o777).to.equal(0o600);
    expect((await stat(join(data, 'postgres'))).mode & 0o777).to.equal(0o700);
    await end(first);
    expect(await serverPid(data)).to.equal(undefined);
    const began = performance.now();
    const second = await start(data);
    expect(performance.now() - began, 'beside the first start').to.be.below(took);
    expect(second.notices()).not.to.contain('creating a database');
    await end(second);
  });

  it('two processes that start in an empty folder at the same time share one server, and the last one stops it', async () => {
    const data = await folder();
    const both = await Promise.all([start(data), start(data)]);
    expect(both[0].started).to.equal(both[1].started);
    await end(both[0]);
    expect(isProcessAlive((await serverPid(data)) as number)).to.equal(true);
    await end(both[1]);
    expect(await serverPid(data)).to.equal(undefined);
  });

  it('the server survives the process that started it, and the next process takes it over', async () => {
    const data = await folder();
    const first = await start(data);
    await end(first, 'SIGKILL');
    const second = await start(data);
    expect([second.port, second.started]).to.deep.equal([first.port, first.started]);
    await end(second);
    expect(await serverPid(data)).to.equal(undefined);
  });

  it('the server starts after a crash whose process id belongs to another process now', async () => {
    const data = await folder();
    const first = await start(data);
    const pid = (await serverPid(data)) as number;
    const text = await readFile(join(data, 'postgres', 'postmaster.pid'), 'utf8');
    process.kill(pid, 'SIGKILL');
    await end(first, 'SIGKILL');
    await writeFile(join(data, 'postgres', 'postmaster.pid'), text.replace(String(pid), String(process.pid)));
    const second = await start(data);
    expect(second.started).not.to.equal(first.started);
    await end(second);
  });

  it('the start fails with a remedy when the password file is missing', async () => {
    const data = await folder();
    await end(await start(data));
    await rm(join(data, 'postgres.password'));
    const failure = await start(data).catch((error: Error) => error);
    expect(failure).to.be.instanceOf(Error);
    expect((failure as Error).message).to.contain('password of the database is missing');
  });

  it('PostgreSQL runs from a copy where its user cannot enter the programs folder', async () => {
    const locked = await folder(0o700);
    const found = await findPostgresBinaries();
    const hidden = { folder: join(locked, 'native'), version: `test-${process.pid}` };
    await cp(found.folder, hidden.folder, { recursive: true, verbatimSymlinks: true });
    const { binaries } = await findPostgresClusterLocation(
      await folder(),
      hidden,
      createLog({ level: 'silent', style: 'raw' }),
    );
    expect(binaries.folder === hidden.folder).to.equal(!isRoot);
    if (isRoot) await rm(binaries.folder, { recursive: true });
  });

  it('the server works in a data folder that only its owner may enter', async () => {
    // For root the server runs as another user, who may not enter the folder: its files are in another folder, behind a link.
    const data = join(await folder(0o700, isRoot ? homedir() : tmpdir()), 'data');
    await mkdir(data);
    folders.unshift(data);
    const first = await start(data);
    const link = await lstat(join(data, 'postgres'));
    expect(link.isSymbolicLink()).to.equal(isRoot);
    if (isRoot) expect(first.notices()).to.contain('only root may enter');
    await end(first);
    const second = await start(data);
    expect([second.folder, second.notices()]).to.deep.equal([first.folder, '']);
    await end(second);
  });

  it('the start names DATA_PATH where the data folder cannot be written to', async () => {
    // Root may write to every folder on a disk, so for root the test uses /sys.
    const dataPath = isRoot ? '/sys' : await folder(0o555);
    const log = createLog({ level: 'silent', style: 'raw' });
    const failure = await openEmbeddedPostgresServer({ dataPath, log }).catch((error: unknown) => error);
    expect(failure).to.include({ remedy: 'set DATA_PATH to a folder this user may write to' });
    expect(String(failure)).to.include(dataPath);
  });
});
