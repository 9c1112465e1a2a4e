import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../support/until.ts';
import {
  createTestLauncher,
  isLinux,
  isProcessGone,
  launchProbe,
  listProcessesOfChild,
  MIB,
  type TestLauncher,
} from './launcher-fixture.ts';
import { startLauncherProcess } from './start-launcher-process.ts';

const groupsOf = ({ group }: ReturnType<TestLauncher['launch']>) => (group?.procsFiles ?? []).map(dirname);

/** Runs `work` with a temporary folder, by which tests detect files that a launcher leaves behind. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-test-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('confinement: the life of a child', () => {
  let launcher: TestLauncher;

  before(async () => {
    launcher = await createTestLauncher();
  });
  after(() => launcher.close());

  it('a child sends its hello within the start time', async () => {
    const child = launcher.launch();
    const first = await new Promise<Buffer>((resolve) => child.channel.once('data', resolve));
    expect(String(first)).to.include('hello');
    child.kill();
    await child.ended;
  });

  it('kill() ends all processes of a child and removes its control groups', async () => {
    const { child } = await launchProbe(launcher);
    const pids = listProcessesOfChild(child.pid);
    const groups = groupsOf(child);
    expect(groups.every((path) => existsSync(path))).to.equal(true);
    child.kill();
    child.kill();
    expect(await child.ended).to.deep.equal({ code: null, signal: 'SIGKILL', isOutOfMemory: false });
    expect(pids.filter((pid) => !isProcessGone(pid))).to.deep.equal([]);
    expect(groups.filter((path) => existsSync(path))).to.deep.equal([]);
    child.kill();
  });

  it('a child can be killed at every moment of its start', async () => {
    for (const delay of [0, 1, 3, 8, 20, 50]) {
      const child = launcher.launch();
      await new Promise((resolve) => setTimeout(resolve, delay));
      const pids = listProcessesOfChild(child.pid);
      child.kill();
      expect((await child.ended).code).to.equal(null);
      await until(() => pids.every(isProcessGone));
      expect(groupsOf(child).filter((path) => existsSync(path))).to.deep.equal([]);
    }
  });

  it('a child is killed while it uses a full core', async () => {
    const { child, ask } = await launchProbe(launcher);
    void ask('spin', { ms: 600_000 });
    const start = performance.now();
    child.kill();
    await child.ended;
    expect(performance.now() - start).to.be.below(60_000);
  });

  it('a child ends by itself when its channel closes', async () => {
    const { child } = await launchProbe(launcher);
    child.channel.end();
    expect(await child.ended).to.deep.equal({ code: 0, signal: null, isOutOfMemory: false });
  });

  it('the channel emits no error when the child ends', async () => {
    const { child } = await launchProbe(launcher);
    child.kill();
    for (let count = 0; count < 20; count += 1) child.channel.write(Buffer.alloc(MIB));
    await child.ended;
    expect(child.channel.destroyed).to.equal(true);
  });

  it('resident() reports the memory of the guest process', async () => {
    if (!isLinux) return;
    const { child, ask } = await launchProbe(launcher);
    const before = await child.resident();
    expect(before).to.be.within(20 * MIB, 200 * MIB);
    await ask('hoard', { bytes: 40 * MIB });
    child.kill();
    await child.ended;
    expect(await child.resident()).to.equal(0);
  });

  it('a child runs with the configured niceness', async () => {
    if (!isLinux) return;
    const { child, guestPid } = await launchProbe(launcher);
    expect(getPriority(guestPid)).to.equal(10);
    child.kill();
    await child.ended;
  });

  it('many children start and end at the same time', async () => {
    const children = Array.from({ length: 6 }, () => launcher.launch());
    await Promise.all(children.map(({ channel }) => new Promise((resolve) => channel.once('data', resolve))));
    for (const child of children) child.kill();
    await Promise.all(children.map(({ ended }) => ended));
    expect(children.flatMap(groupsOf).filter((path) => existsSync(path))).to.deep.equal([]);
  });
});

describe('confinement: the end of a service', () => {
  it('a closed launcher leaves no process or control group', async () => {
    const launcher = await createTestLauncher();
    const { child } = await launchProbe(launcher);
    const pids = listProcessesOfChild(child.pid);
    const groups = groupsOf(child);
    await launcher.close();
    expect(pids.filter((pid) => !isProcessGone(pid))).to.deep.equal([]);
    expect(groups.flatMap((path) => [path, dirname(path)]).filter((path) => existsSync(path))).to.deep.equal([]);
  });

  it('a closed launcher leaves no file', async () => {
    await inFolder(async (folder) => {
      const served = startLauncherProcess({ mode: 'posture', env: { TMPDIR: folder } });
      expect(await served.next()).to.have.property('decision');
      expect(await served.ended).to.equal(0);
      expect(readdirSync(folder)).to.deep.equal([]);
    });
  });

  it('a killed service leaves no child, and the next service removes its control groups', async () => {
    if (!isLinux) return;
    await inFolder(async (folder) => {
      const served = startLauncherProcess({ mode: 'holds', env: { TMPDIR: folder } });
      const { pids } = (await served.next()) as { readonly pids: readonly number[] };
      expect(pids.filter(isProcessGone)).to.deep.equal([]);
      served.process.kill('SIGKILL');
      await served.ended;
      await until(() => pids.every(isProcessGone));
      const next = await createTestLauncher();
      const left = groupsOf(next.launch())
        .flatMap((path) => readdirSync(dirname(dirname(path))))
        .filter((name) => name.startsWith(`tenon-${served.process.pid}-`));
      await next.close();
      expect(left).to.deep.equal([]);
    });
  });

  it('a child that cannot start for lack of descriptors has ended, and the service goes on', async () => {
    if (!isLinux) return;
    const wrapper = ['/bin/sh', '-c', 'ulimit -n 300; exec "$@"', 'sh'];
    const served = startLauncherProcess({ mode: 'crowded', wrapper });
    expect(await served.next()).to.equal('EMFILE');
    expect(await served.next()).to.deep.equal({
      end: { code: null, signal: null, isOutOfMemory: false },
      isDestroyed: true,
    });
    expect(await served.next()).to.be.a('number');
    expect(await served.ended).to.equal(0);
  });

  it('a child inherits no descriptor that the service inherited', async () => {
    if (!isLinux) return;
    await inFolder(async (folder) => {
      const path = join(folder, 'secret');
      const fd = openSync(path, 'w+');
      const { dev, ino } = statSync(path);
      const served = startLauncherProcess({ mode: 'inherits', inherited: { 20: fd, 200: fd } });
      const { posture, descriptors } = (await served.next()) as {
        readonly posture: TestLauncher['posture'];
        readonly descriptors: readonly { readonly file: string }[];
      };
      await served.ended;
      closeSync(fd);
      expect(posture.applied).to.include('process');
      expect(descriptors.map(({ file }) => file)).not.to.include(`${dev}:${ino}`);
    });
  });
});
