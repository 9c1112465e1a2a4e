import { bundleChildRunnerSource } from '../../runner/build.ts';
import { findIsolatedVmAddonPath } from '../../runner/isolated-vm-addon.ts';
import { CHILD_NODE_FLAGS } from '../../runner/node-flags.ts';
import type { ConfinedChild, ConfinedChildLauncher, ConfinedChildLauncherOptions } from '../confined-child.ts';
import { eventLoopTurn } from '../event-loop-turn.ts';
import { readProbeSource } from '../posture/probe-client.ts';
import { findProvenLaunchPlan } from '../posture/resolve-posture.ts';
import { openCgroups } from './cgroups/cgroups.ts';
import { createLaunchFiles } from './launch-files.ts';
import { type StartedChild, startProgramUnderLaunchPlan } from './start.ts';
import { createUidPool } from './uids.ts';

/** Overrides of what the machine offers, for tests. Everything else is looked up. */
export interface MachineOverrides {
  /** Folders in which programs of the operating system are looked up. */
  readonly folders?: readonly string[];
  /** False: as if the machine had no control groups. */
  readonly cgroups?: boolean;
}

export interface ConfinedModuleLauncher extends ConfinedChildLauncher {
  launch(): StartedChild;
  /** Starts another program in place of the runner under the same confinement. `text` is a CommonJS module. */
  launchProgram(text: string): StartedChild;
}

/**
 * Determines how children can be confined on this machine and proves it with test children, which takes about a second.
 * Rejects where the private folder cannot be created or the runner cannot be built. Where confinement is not possible,
 * the posture says `refuse` and `launch` throws.
 */
export async function createConfinedChildLauncher(
  options: ConfinedChildLauncherOptions,
  environment: MachineOverrides = {},
): Promise<ConfinedModuleLauncher> {
  const isLinux = process.platform === 'linux';
  const isRoot = process.getuid?.() === 0;
  // This module has just been imported.
  await eventLoopTurn();
  const runner = await bundleChildRunnerSource();
  await eventLoopTurn();
  const resources = await createLaunchFiles({
    flags: CHILD_NODE_FLAGS,
    native: findNativeAddon(),
    folders: environment.folders,
  });
  await eventLoopTurn();
  const cgroups = isLinux && environment.cgroups !== false ? await openCgroups() : null;
  const living = new Set<ConfinedChild>();
  const close = async () => {
    for (const child of living) child.kill();
    await Promise.all([...living].map(({ ended }) => ended));
    await cgroups?.close();
    resources.close();
  };
  try {
    const programs = {
      probe: resources.writeFile('probe.cjs', readProbeSource()),
      runner: resources.writeFile('runner.cjs', runner),
    };
    const uids = isLinux && isRoot ? createUidPool() : null;
    const machine = { resources, cgroups, uids, isRoot, memory: options.memory };
    const { plan, posture } = await findProvenLaunchPlan(machine, programs, options);
    const start = (program: string): StartedChild => {
      if (plan === null || posture.decision === 'refuse')
        throw new Error('the posture refuses confined packages on this machine');
      const child = startProgramUnderLaunchPlan(resources, plan, program);
      living.add(child);
      void child.ended.then(() => living.delete(child));
      return child;
    };
    let count = 0;
    return {
      posture,
      launch: () => start(programs.runner),
      launchProgram(text) {
        count += 1;
        return start(resources.writeFile(`program-${count}.cjs`, text));
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Null on a machine for which isolated-vm has no addon. Third-party packages then do not run, and the posture says so.
 */
function findNativeAddon(): string | null {
  try {
    return findIsolatedVmAddonPath();
  } catch {
    return null;
  }
}
