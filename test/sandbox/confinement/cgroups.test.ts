import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { openCgroups } from '../../../sandbox/host/launch/cgroups/cgroups.ts';
import type { CgroupFactory } from '../../../sandbox/host/launch/cgroups/group.ts';
import {
  findOwnCgroupV1,
  findOwnCgroupV2,
  readProcSelfCgroupTexts,
} from '../../../sandbox/host/launch/cgroups/own-group.ts';
import { openCgroupsV2 } from '../../../sandbox/host/launch/cgroups/v2.ts';
import { until } from '../../support/until.ts';
import { MIB } from './launcher-fixture.ts';

const OLDER = {
  mounts: [
    '31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755',
    '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct',
    '35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw,relatime master:9 - cgroup cgroup rw,memory',
    '41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate',
  ].join('\n'),
  groups: '4:memory:/docker/abc/inner\n2:cpu,cpuacct:/a:b\n1:name=systemd:/\n0::/user.slice/x.scope\n',
};

describe('findOwnGroupV1 and findOwnCgroupV2', () => {
  it('the own group is found for each controller of cgroup v1', () => {
    expect(findOwnCgroupV1(OLDER, 'cpu')).to.equal('/sys/fs/cgroup/cpu,cpuacct/a:b');
    expect(findOwnCgroupV1(OLDER, 'pids')).to.equal(null);
  });

  it('the own group is relative to the mounted root in a container', () => {
    expect(findOwnCgroupV1(OLDER, 'memory')).to.equal('/sys/fs/cgroup/memory/inner');
    expect(findOwnCgroupV1({ ...OLDER, groups: '4:memory:/docker/other' }, 'memory')).to.equal(null);
  });

  it('the own group is found in cgroup v2', () => {
    expect(findOwnCgroupV2(OLDER)).to.equal('/sys/fs/cgroup/unified/user.slice/x.scope');
    expect(findOwnCgroupV2({ mounts: '', groups: '' })).to.equal(null);
  });
});

describe('confinement: control groups', () => {
  let cgroups: CgroupFactory | null;

  before(async () => {
    cgroups = await openCgroups();
  });
  after(() => cgroups?.close());

  const inGroup = (procsFiles: readonly string[], code: string) => {
    const joining = 'for door do shift; [ "$door" = -- ] && break; echo $$ > "$door"; done; exec "$@"';
    return spawn('/bin/sh', ['-c', joining, 'sh', ...procsFiles, '--', '/bin/sh', '-c', code], { stdio: 'ignore' });
  };

  it('remove() kills the processes of a group before it removes the folder', async () => {
    const group = cgroups?.createGroup({ memory: 64 * MIB, tasks: 8 });
    if (group === undefined) return;
    const child = inGroup(group.procsFiles, 'sleep 600 & sleep 600');
    const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
    await until(() => group.tasks() === 3);
    expect(await group.remove()).to.equal(true);
    expect(await ended).to.equal('SIGKILL');
    expect(group.procsFiles.filter((procsFile) => existsSync(dirname(procsFile)))).to.deep.equal([]);
    expect(await group.remove()).to.equal(true);
  });

  it('counters() counts refused threads and processes', async () => {
    const group = cgroups?.createGroup({ memory: 64 * MIB, tasks: 2 });
    if (group === undefined) return;
    const child = inGroup(group.procsFiles, 'sleep 0.01 & sleep 0.01 & sleep 0.01 & wait');
    await new Promise((resolve) => child.once('exit', resolve));
    expect(group.counters().refused).to.be.above(0);
    await group.remove();
  });

  it('two launchers in one process keep their own groups', async () => {
    const other = await openCgroups();
    const group = cgroups?.createGroup({ memory: 64 * MIB, tasks: 8 });
    const third = await openCgroups();
    expect((group?.procsFiles ?? []).every((procsFile) => existsSync(procsFile))).to.equal(true);
    await Promise.all([group?.remove(), other?.close(), third?.close()]);
  });

  it('groups of dead services are removed, also with the process id of this one', async () => {
    const own = cgroups?.createGroup({ memory: 64 * MIB, tasks: 8 });
    if (own === undefined) return;
    const base = dirname(dirname(dirname(own.procsFiles[0] as string)));
    await own.remove();
    const counted = readlinkSync('/proc/self/ns/pid').match(/\d+/)?.[0];
    const names = ['tenon-4194305-1', `tenon-${process.pid}-99999`].map((name) => `${name}-${counted}`);
    const dead = names.map((name) => join(base, name));
    const otherNamespace = join(base, 'tenon-4194305-1-1');
    for (const folder of [...dead, otherNamespace]) mkdirSync(join(folder, '1'), { recursive: true });
    const next = await openCgroups();
    await next?.close();
    const isThere = existsSync(otherNamespace);
    for (const folder of [join(otherNamespace, '1'), otherNamespace]) rmdirSync(folder);
    expect(dead.filter((folder) => existsSync(folder))).to.deep.equal([]);
    expect(isThere, 'that of a service whose process ids mean something else').to.equal(true);
  });
});

describe('confinement: cgroup v2', () => {
  /**
   * The cgroup v2 controllers that the tests use. Where cgroup v1 holds the memory controller they use another one, since
   * processes are moved and controllers enabled in the same way.
   */
  const controllers = () => {
    const own = findOwnCgroupV2(readProcSelfCgroupTexts());
    const has = own === null ? [] : readFileSync(join(own, 'cgroup.controllers'), 'utf8').trim().split(' ');
    return has.includes('memory') ? ['memory', 'pids'] : has.slice(0, 1).filter(Boolean);
  };

  it('openCgroupsV2 returns null without the controllers for memory and tasks', async () => {
    if (controllers().includes('memory')) return;
    expect(await openCgroupsV2()).to.equal(null);
  });

  it('groups can be joined, killed and removed, and no folder stays', async () => {
    const needed = controllers();
    const own = findOwnCgroupV2(readProcSelfCgroupTexts());
    const cgroups = needed.length === 0 ? null : await openCgroupsV2(readProcSelfCgroupTexts(), needed);
    if (cgroups === null || own === null) return;
    const group = cgroups.createGroup({ memory: 64 * MIB, tasks: 8 });
    const child = spawn('/bin/sleep', ['600'], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
    group.join(child.pid as number);
    const procsFile = group.procsFiles[0] as string;
    expect(readFileSync(procsFile, 'utf8').trim()).to.equal(String(child.pid));
    group.kill();
    expect(await ended).to.equal('SIGKILL');
    expect(await group.remove()).to.equal(true);
    await cgroups.close();
    expect(readdirSync(own).filter((name) => name.startsWith(`tenon-${process.pid}`))).to.deep.equal([]);
  });

  it('a service alone in its group moves to a leaf, and back when the launcher closes', async () => {
    const needed = controllers();
    const own = findOwnCgroupV2(readProcSelfCgroupTexts());
    const cgroups = needed.length === 0 ? null : await openCgroupsV2(readProcSelfCgroupTexts(), needed);
    if (cgroups === null || own === null) return;
    await cgroups.close();
    const unit = join(own, `tenon-test-${process.pid}`);
    mkdirSync(unit);
    const code = `
      import { openCgroupsV2 } from ${JSON.stringify(new URL('../../../sandbox/host/launch/cgroups/v2.ts', import.meta.url).href)};
      import { findOwnCgroupV2, readProcSelfCgroupTexts } from ${JSON.stringify(new URL('../../../sandbox/host/launch/cgroups/own-group.ts', import.meta.url).href)};
      const before = findOwnCgroupV2(readProcSelfCgroupTexts());
      const cgroups = await openCgroupsV2(readProcSelfCgroupTexts(), ${JSON.stringify(needed)});
      const group = cgroups.createGroup({ memory: 67108864, tasks: 8 });
      const during = findOwnCgroupV2(readProcSelfCgroupTexts());
      const second = await openCgroupsV2(readProcSelfCgroupTexts(), ${JSON.stringify(needed)});
      await second.close();
      await group.remove();
      await cgroups.close();
      console.log(JSON.stringify({ before, during, after: findOwnCgroupV2(readProcSelfCgroupTexts()), mechanic: second.mechanic }));`;
    const script = 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"';
    const child = spawn('/bin/sh', ['-c', script, 'sh', unit, process.execPath, '--input-type=module', '-e', code]);
    let text = '';
    child.stdout.on('data', (bytes) => {
      text += bytes;
    });
    await new Promise((resolve) => child.once('close', resolve));
    const found = JSON.parse(text);
    expect(readdirSync(unit).filter((name) => name.startsWith('tenon-'))).to.deep.equal([]);
    rmdirSync(unit);
    expect(found).to.deep.include({ before: unit, after: unit, mechanic: 'cgroup-v2' });
    expect(dirname(found.during)).to.equal(unit);
  });
});
