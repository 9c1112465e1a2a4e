import { accessSync, chmodSync, constants, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openCgroups } from '../../../sandbox/host/launch/cgroups/cgroups.ts';
import { findConfinementTools } from '../../../sandbox/host/launch/tools.ts';
import {
  CONFINEMENT_LAYERS,
  CONFINEMENT_LAYERS_OF_REQUIRED_MODE,
  type ConfinementLayer,
  MINIMUM_CONFINEMENT_LAYERS,
  type Posture,
} from '../../../sandbox/host/posture/confinement-layers.ts';
import { createTestLauncher, isLinux, isRoot, type LauncherLogLine } from '../confinement/launcher-fixture.ts';
import { startLauncherProcess } from '../confinement/start-launcher-process.ts';

const tools = findConfinementTools();
/** Layers that need bubblewrap on this machine. */
const WRAPPED: readonly ConfinementLayer[] = ['filesystem', 'network', 'process-namespace', 'seccomp'];

/** Asserts that a posture lists each layer once and that its decision follows from its layers. */
function expectHonest({ mode, decision, applied, missing, cgroupMechanic }: Posture) {
  expect([...applied, ...missing].sort()).to.deep.equal([...CONFINEMENT_LAYERS].sort());
  for (const list of [applied, missing])
    expect(list).to.deep.equal(CONFINEMENT_LAYERS.filter((layer) => list.includes(layer)));
  const demanded = mode === 'required' ? CONFINEMENT_LAYERS_OF_REQUIRED_MODE : MINIMUM_CONFINEMENT_LAYERS;
  expect(decision).to.equal(demanded.every((layer) => applied.includes(layer)) ? 'run' : 'refuse');
  if (cgroupMechanic === null) expect(missing).to.include.members(['pids-limit', 'cpu-limit']);
}

const resolved = async (...parameters: Parameters<typeof createTestLauncher>): Promise<Posture> => {
  const launcher = await createTestLauncher(...parameters);
  await launcher.close();
  return launcher.posture;
};

describe('createConfinedChildLauncher: posture', () => {
  const folders: string[] = [];
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });
  /** Creates a folder with links to programs of this machine and with fake ones, in which the launcher looks them up. */
  const folderWith = (names: readonly (keyof typeof tools)[], scripts: Readonly<Record<string, string>> = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'tenon-test-'));
    folders.push(folder);
    chmodSync(folder, 0o755);
    for (const name of names) {
      const path = tools[name];
      if (path !== null) symlinkSync(path, join(folder, { bubblewrap: 'bwrap', shell: 'sh' }[name as string] ?? name));
    }
    for (const [name, text] of Object.entries(scripts)) writeFileSync(join(folder, name), text, { mode: 0o755 });
    return folder;
  };

  it('the posture claims all layers for root with bubblewrap and control groups, otherwise those that hold', async () => {
    const cgroups = await openCgroups();
    await cgroups?.close();
    const posture = await resolved('auto');
    expectHonest(posture);
    expect(posture.applied).to.include.members(['isolate', 'process']);
    if (isRoot && cgroups !== null && Object.values(tools).every((path) => path !== null)) {
      expect(posture.missing).to.deep.equal([]);
      expect(posture.cgroupMechanic).to.equal(cgroups.mechanic);
    }
  });

  it('the posture is logged once, with the missing layers and the reasons', async () => {
    const lines: LauncherLogLine[] = [];
    const posture = await resolved('auto', { folders: [folderWith([])], cgroups: false }, lines);
    expect(lines.map(({ level }) => level)).to.deep.equal(['info', 'warn']);
    expect(lines[0]?.data).to.deep.include({ posture });
    const { missing } = (lines[1] as LauncherLogLine).data as { readonly missing: object };
    expect(Object.keys(missing)).to.have.members([...posture.missing]);
  });

  it('the posture claims the layers available to an ordinary user', async () => {
    if (!isLinux) return;
    const served = startLauncherProcess({ mode: 'posture', ...(isRoot ? { uid: 64_321 } : {}) });
    const posture = (await served.next()) as Posture | undefined;
    // An ordinary user cannot execute the repository's files where they lie in a folder of root.
    if (posture === undefined && isRoot) return;
    expectHonest(posture as Posture);
    expect(posture?.applied).to.include.members(['isolate', 'process', 'unprivileged-user']);
    if (tools.prlimit !== null) expect(posture?.applied).to.include.members(['rlimits', 'memory-limit']);
    if (posture?.applied.includes('filesystem')) expect(posture.applied).to.include.members([...WRAPPED]);
  });

  it('the posture claims no layer of bubblewrap without bubblewrap', async () => {
    const folder = folderWith(['setpriv', 'prlimit', 'shell', 'nice']);
    const posture = await resolved('auto', { folders: [folder] });
    expectHonest(posture);
    expect(posture.missing).to.include.members([...WRAPPED]);
    expect(posture.applied).to.include.members(['isolate', 'process']);
    if (tools.prlimit !== null) expect(posture.applied).to.include('rlimits');
    if (tools.setpriv !== null) expect(posture.applied).to.include('no-new-privileges');
  });

  it('the launcher falls back to a plain process where bubblewrap fails', async () => {
    const lines: LauncherLogLine[] = [];
    const script = '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n';
    const folder = folderWith(['setpriv', 'prlimit', 'shell', 'nice'], { bwrap: script });
    const posture = await resolved('auto', { folders: [folder] }, lines);
    expectHonest(posture);
    expect(posture.missing).to.include.members([...WRAPPED]);
    if (isLinux) expect(JSON.stringify(lines)).to.include('No permissions to create new namespace');
  });

  it('the posture claims no layer for a bubblewrap that confines nothing', async () => {
    const script = '#!/bin/sh\nfor word do shift; [ "$word" = -- ] && break; done\nexec "$@"\n';
    const folder = folderWith(['setpriv', 'prlimit', 'shell', 'nice'], { bwrap: script });
    const posture = await resolved('auto', { folders: [folder] });
    expectHonest(posture);
    expect(posture.missing).to.include.members([...WRAPPED]);
  });

  it('the launcher works without the programs of the operating system', async () => {
    const posture = await resolved('auto', { folders: [folderWith([])] });
    expectHonest(posture);
    expect(posture.missing).to.include.members([...WRAPPED, 'no-new-privileges', 'rlimits']);
    expect(posture.applied).to.include.members(['isolate', 'process', 'unprivileged-user']);
  });

  it('the address space limits memory where there are no control groups', async () => {
    if (!isLinux || tools.prlimit === null) return;
    const posture = await resolved('auto', { cgroups: false });
    expectHonest(posture);
    expect(posture.applied).to.include.members(['memory-limit', 'rlimits']);
    expect(posture.missing).to.include.members(['pids-limit', 'cpu-limit']);
    expect(posture.cgroupMechanic).to.equal(null);
  });

  it('the posture refuses in both modes where memory cannot be limited', async () => {
    const folder = folderWith(['bubblewrap', 'setpriv', 'shell', 'nice']);
    for (const mode of ['auto', 'required'] as const) {
      const launcher = await createTestLauncher(mode, { folders: [folder], cgroups: false });
      expect(launcher.posture.decision).to.equal('refuse');
      expect(launcher.posture.missing).to.include('memory-limit');
      expect(() => launcher.launch()).to.throw();
      await launcher.close();
    }
  });

  it('mode required refuses a missing layer that mode auto accepts', async () => {
    const folder = folderWith(['setpriv', 'prlimit', 'shell', 'nice']);
    const posture = await resolved('required', { folders: [folder] });
    expect(posture.mode).to.equal('required');
    expect(posture.decision).to.equal('refuse');
  });

  it('mode required runs where every required layer holds', async () => {
    const posture = await resolved('required');
    expectHonest(posture);
  });
});

describe('findConfinementTools', () => {
  it('programs are absolute paths of executables', () => {
    for (const path of Object.values(tools)) if (path !== null) accessSync(path, constants.X_OK);
  });

  it('programs are looked up in the listed folders only', () => {
    expect(Object.values(findConfinementTools([]))).to.deep.equal([null, null, null, null, null]);
  });
});
