import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ConfinementCanary, createConfinementCanary } from '../../../sandbox/host/posture/confinement-canary.ts';
import {
  createTestLauncher,
  isRoot,
  type LaunchedProbe,
  launchProbe,
  MIB,
  TEST_CHILD_MEMORY_BYTES,
  type TestLauncher,
} from './launcher-fixture.ts';

type Layer = TestLauncher['posture']['applied'][number];

/**
 * The probe program runs in place of the runner. Each test expects an attempt to fail where the posture claims its
 * layer, so on every machine these tests check that the posture is true.
 */
describe('confinement: the probe program', () => {
  let launcher: TestLauncher;
  let canary: ConfinementCanary;
  let ask: LaunchedProbe['ask'];
  let read: LaunchedProbe['read'];
  let guestPid: number;

  before(async () => {
    launcher = await createTestLauncher();
    expect(launcher.posture.decision).to.equal('run');
    canary = await createConfinementCanary();
    ({ ask, read, guestPid } = await launchProbe(launcher));
  });

  after(async () => {
    await launcher.close();
    await canary.close();
  });

  const has = (layer: Layer) => launcher.posture.applied.includes(layer);
  /**
   * Asserts that an attempt failed with one of these codes, or with any code where none is listed, if the posture claims the
   * layer.
   */
  const expectRefused = (
    layer: Layer,
    answer: Awaited<ReturnType<LaunchedProbe['ask']>>,
    ...codes: readonly string[]
  ) => {
    if (!has(layer)) return;
    expect(answer).to.have.property('error');
    const { error } = answer as { readonly error: string };
    expect(error).not.to.be.oneOf(['ENDED', 'NO_ANSWER']);
    if (codes.length > 0) expect(error).to.be.oneOf(codes);
  };

  it('the probe sees no environment variable of the service', async () => {
    const found = (await read('environment')) as object;
    expect(Object.keys(found).filter((name) => name !== 'PWD')).to.deep.equal(['MALLOC_ARENA_MAX']);
  });

  it('the probe inherits no file, pipe or socket but its channel', async () => {
    const found = (await read('descriptors')) as readonly { readonly fd: number; readonly file: string }[];
    const sockets = found.filter(({ fd }) => fd === 3);
    expect(sockets).to.have.length(1);
    // Leaves out pipes of Node itself, which have both ends in the probe's process.
    const others = found.filter(({ fd, file }) => fd !== 3 && found.filter((one) => one.file === file).length === 1);
    expect(others.length, JSON.stringify(others)).to.be.at.most(1);
  });

  it('the probe cannot read a file of the machine or of the service', async () => {
    for (const path of ['/etc/passwd', '/etc/hostname', canary.file, process.execPath, import.meta.filename]) {
      expectRefused('filesystem', await ask('read', { path }), 'ENOENT', 'EACCES');
    }
    for (const path of ['/proc', '/dev', '/sys', '/home', '/root', '/tmp', canary.folder]) {
      expectRefused('filesystem', await ask('list', { path }), 'ENOENT', 'EACCES');
    }
  });

  it('the probe cannot leave its root through ..', async () => {
    expectRefused('filesystem', await ask('read', { path: `${'../'.repeat(20)}etc/passwd` }), 'ENOENT');
  });

  it('the probe cannot write, replace or remove a file, its own program included', async () => {
    const targets = [
      '/new',
      './new',
      '/tmp/new',
      '/dev/shm/new',
      '/runner.cjs',
      '/node',
      '/lib/new',
      join(canary.folder, 'new'),
    ];
    if (!has('filesystem')) return;
    for (const path of targets) expectRefused('filesystem', await ask('write', { path }));
    for (const path of ['/runner.cjs', '/node', canary.file])
      expectRefused('filesystem', await ask('remove', { path }));
    expect(existsSync(join(canary.folder, 'new'))).to.equal(false);
    expect(existsSync(canary.file)).to.equal(true);
  });

  it('the probe cannot connect to a port of the service', async () => {
    const target = canary.listeners.find(({ port }) => port !== undefined) ?? {};
    expectRefused('network', await ask('connect', target));
    expect(has('network') && canary.isTouched()).to.equal(false);
  });

  it('the probe cannot connect to a Unix socket of the service, with a file or abstract', async () => {
    for (const target of canary.listeners.filter(({ path }) => path !== undefined)) {
      expectRefused('network', await ask('connect', target));
    }
    expect(has('network') && canary.isTouched()).to.equal(false);
  });

  it('the probe cannot send a datagram to the service', async () => {
    const answer = await ask('datagram', { host: '127.0.0.1', port: canary.port });
    expectRefused('seccomp', answer, 'EPERM');
    await new Promise((resolve) => setImmediate(resolve));
    expect(has('network') && canary.isTouched()).to.equal(false);
  });

  it('the probe cannot listen on a port', async () => {
    expectRefused('seccomp', await ask('listen', { host: '127.0.0.1', port: 0 }), 'EPERM');
    expectRefused('seccomp', await ask('listen', { path: '/socket' }), 'EPERM');
    expectRefused('seccomp', await ask('listen', { path: '\0socket' }), 'EPERM');
  });

  it('the probe cannot start a shell, Node or any other process', async () => {
    for (const path of ['/bin/sh', '/usr/bin/env', '/node', '/setpriv', '/prlimit', process.execPath]) {
      expectRefused('seccomp', await ask('run', { path }), 'EPERM', 'ENOENT');
    }
    if (has('seccomp')) expect(readdirSync(`/proc/${guestPid}/task`).length).to.be.above(0);
  });

  it("the probe cannot read the service's environment or memory", async () => {
    for (const file of ['environ', 'mem', 'maps', 'cmdline', 'root/etc/passwd']) {
      expectRefused('process-namespace', await ask('read', { path: `/proc/${process.pid}/${file}` }));
    }
    if (has('filesystem')) expectRefused('filesystem', await ask('read', { path: '/proc/self/environ' }), 'ENOENT');
  });

  it('the probe cannot signal the service, other children or the first process of its namespace', async () => {
    const other = await launchProbe(launcher);
    const targets = [process.pid, other.child.pid, other.guestPid];
    for (const target of targets) {
      expectRefused('process-namespace', await ask('signal', { pid: target, signal: 'SIGKILL' }));
    }
    if (has('seccomp')) {
      for (const target of [1, -1, 0]) {
        expectRefused('seccomp', await ask('signal', { pid: target, signal: 'SIGKILL' }), 'EPERM');
      }
    }
    expect(await other.read('pid')).to.be.a('number');
  });

  it('the probe has no privileges and cannot change its user', async () => {
    const found = (await read('identity')) as { readonly uid: number; readonly gid: number; groups: number[] };
    if (!has('unprivileged-user')) return;
    expect(found.uid).to.be.above(0);
    if (isRoot) expect(found.groups).to.deep.equal([found.gid]);
    for (const uid of [0, 1, found.uid + 1]) expectRefused('unprivileged-user', await ask('setuid', { uid }));
  });

  it('the probe has a user of its own where the service is root', async () => {
    if (!isRoot || !has('unprivileged-user')) return;
    const other = await launchProbe(launcher);
    const uidOf = async (identify: LaunchedProbe['read']) =>
      ((await identify('identity')) as { readonly uid: number }).uid;
    expect(await uidOf(read)).not.to.equal(await uidOf(other.read));
  });

  it('the probe cannot open more files than the limit', async () => {
    if (!has('rlimits')) return;
    const path = has('filesystem') ? '/runner.cjs' : import.meta.filename;
    expect(await read('open', { path, count: 500 })).to.be.below(64);
  });

  it('the probe cannot use more memory than its limit', async () => {
    if (!has('memory-limit')) return;
    const { child, ask: say } = await launchProbe(launcher);
    const answer = await say('hoard', { bytes: 4096 * MIB });
    // The control group kills the probe, or the address space limit refuses memory. That limit allows half a gigabyte more,
    // which an isolate may reserve.
    if ('value' in answer) expect(answer.value).to.be.below(2 * TEST_CHILD_MEMORY_BYTES + 896 * MIB);
    else expect((await child.ended).isOutOfMemory).to.equal(launcher.posture.cgroupMechanic !== null);
  });

  it('a probe killed at its memory limit is reported as out of memory and leaves no control group', async () => {
    if (launcher.posture.cgroupMechanic === null) return;
    const { child, ask: say } = await launchProbe(launcher);
    await say('hoard', { bytes: 4096 * MIB });
    expect(await child.ended).to.deep.equal({ code: null, signal: 'SIGKILL', isOutOfMemory: true });
    for (const procsFile of child.group?.procsFiles ?? []) expect(existsSync(procsFile)).to.equal(false);
  });

  it('the probe cannot start an unlimited number of threads', async () => {
    if (!has('rlimits')) return;
    const { child, ask: say } = await launchProbe(launcher);
    const answer = await say('threads', { count: 60 });
    if ('value' in answer) expect(answer.value).to.be.below(60);
    else expect((await child.ended).signal).not.to.equal(null);
  });

  it('the probe gets no more than its share of a core', async () => {
    if (!has('cpu-limit')) return;
    const { child, read: readOther } = await launchProbe(launcher);
    // One thread cannot use the whole share of a child, and the start itself may use more.
    await new Promise((resolve) => setTimeout(resolve, 400));
    child.group?.throttle(0.5);
    const share = (await readOther('spin', { ms: 1_000 })) as number;
    expect(share).to.be.below(0.65);
    // On a busy machine the child may get less than its share.
    if (share > 0.45) expect(child.group?.counters().throttled).to.be.above(0);
  });

  it('the probe can run an isolate', async () => {
    const path = has('filesystem') ? '/isolated_vm.node' : undefined;
    if (path !== undefined) expect(await read('isolate', { path, memory: 64 })).to.equal('[42]');
  });
});
