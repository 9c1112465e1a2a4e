import type { CgroupFactory } from '../launch/cgroups/group.ts';
import type { LaunchFiles } from '../launch/launch-files.ts';
import { CHILD_RUNTIME_MEMORY_BYTES, type ChildLaunchPlan, MAX_CHILD_THREADS } from '../launch/launch-plan.ts';
import { isTaskLimitPerChild } from '../launch/task-limit.ts';
import type { UidPool } from '../launch/uids.ts';

export interface MachineCapabilities {
  readonly resources: LaunchFiles;
  readonly cgroups: CgroupFactory | null;
  readonly uids: UidPool | null;
  readonly isRoot: boolean;
  /** Bytes of an isolate's heap. */
  readonly memory: number;
}

/** Every plan that this machine might support, from most to least protection. The first one that starts is used. */
export function listLaunchPlans(machine: MachineCapabilities): readonly ChildLaunchPlan[] {
  const fullPlans = listNamespaceChoices(machine).map((namespaceMode) => createFullPlan(machine, namespaceMode));
  // Plans without one layer at a time, then without all of these, so that one unavailable layer does not cost the
  // others.
  const candidates = fullPlans.flatMap((plan) => [
    plan,
    { ...plan, cgroups: null },
    { ...plan, seccomp: false },
    { ...plan, limits: null },
    { ...plan, seccomp: false, cgroups: null, limits: null },
  ]);
  const seen = new Set<string>();
  return candidates.filter((plan) => {
    const name = renderLaunchPlanName(plan);
    return !seen.has(name) && seen.add(name);
  });
}

/** A short name of the plan for the log. */
export const renderLaunchPlanName = ({ namespaceMode, seccomp, uids, cgroups, limits }: ChildLaunchPlan): string =>
  [
    { root: 'bubblewrap', user: 'bubblewrap in a user namespace', none: 'plain' }[namespaceMode],
    ...(uids === null ? [] : ['another user']),
    ...(seccomp ? ['seccomp'] : []),
    ...(limits === null ? [] : ['rlimits']),
    ...(cgroups === null ? [] : [cgroups.mechanic]),
  ].join(' + ');

type NamespaceChoice = { readonly namespaceMode: ChildLaunchPlan['namespaceMode']; readonly uids: UidPool | null };

function listNamespaceChoices({ resources, uids, isRoot }: MachineCapabilities): readonly NamespaceChoice[] {
  const { tools, libraries } = resources;
  const wraps = tools.bubblewrap !== null && libraries !== null;
  return [
    ...(wraps && isRoot && uids !== null && tools.setpriv !== null ? [{ namespaceMode: 'root' as const, uids }] : []),
    // Root without the capability to mount: the child runs as another user from the start, which needs world-readable
    // paths.
    ...(wraps && isRoot && uids !== null ? [{ namespaceMode: 'user' as const, uids }] : []),
    ...(wraps ? [{ namespaceMode: 'user' as const, uids: null }] : []),
    ...(isRoot && uids !== null ? [{ namespaceMode: 'none' as const, uids }] : []),
    { namespaceMode: 'none', uids: null },
  ];
}

function createFullPlan(
  { resources, cgroups, memory }: MachineCapabilities,
  { namespaceMode, uids }: NamespaceChoice,
): ChildLaunchPlan {
  const { tools, seccompFilter } = resources;
  return {
    ...{ namespaceMode, uids },
    seccomp: namespaceMode !== 'none' && seccompFilter !== null,
    // bubblewrap needs a shell that joins the group first.
    cgroups: namespaceMode === 'none' || tools.shell !== null ? cgroups : null,
    limits:
      tools.prlimit === null
        ? null
        : { addresses: null, tasks: isTaskLimitPerChild(namespaceMode, uids) ? MAX_CHILD_THREADS : null },
    memory: memory + CHILD_RUNTIME_MEMORY_BYTES,
  };
}
