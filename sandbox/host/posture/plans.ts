import type { Bench } from '../launch/bench.ts';
import type { Cgroups } from '../launch/cgroups/group.ts';
import { type Plan, RUNTIME, TASKS } from '../launch/plan.ts';
import { countsTasksApart } from '../launch/rlimits.ts';
import type { Uids } from '../launch/uids.ts';

export interface Means {
  readonly bench: Bench;
  readonly cgroups: Cgroups | null;
  readonly uids: Uids | null;
  readonly isRoot: boolean;
  /** Bytes of an isolate's heap. */
  readonly memory: number;
}

/** Every composition this machine might carry, from the most protection to the least. The first that starts is taken. */
export function plansFor(means: Means): readonly Plan[] {
  const wholes = carriersOf(means).map((carrier) => wholeOf(means, carrier));
  // One thing less at a time and then all of it: a layer that cannot be had should not cost the others.
  const lessened = wholes.flatMap((plan) => [
    plan,
    { ...plan, cgroups: null },
    { ...plan, seccomp: false },
    { ...plan, limits: null },
    { ...plan, seccomp: false, cgroups: null, limits: null },
  ]);
  const seen = new Set<string>();
  return lessened.filter((plan) => {
    const name = nameOf(plan);
    return !seen.has(name) && seen.add(name);
  });
}

/** A short name for the log. */
export const nameOf = ({ carrier, seccomp, uids, cgroups, limits }: Plan): string =>
  [
    { root: 'bubblewrap', user: 'bubblewrap in a user namespace', none: 'plain' }[carrier],
    ...(uids === null ? [] : ['another user']),
    ...(seccomp ? ['seccomp'] : []),
    ...(limits === null ? [] : ['rlimits']),
    ...(cgroups === null ? [] : [cgroups.mechanic]),
  ].join(' + ');

type Carrier = { readonly carrier: Plan['carrier']; readonly uids: Uids | null };

function carriersOf({ bench, uids, isRoot }: Means): readonly Carrier[] {
  const { tools, libraries } = bench;
  const wraps = tools.bubblewrap !== null && libraries !== null;
  return [
    ...(wraps && isRoot && uids !== null && tools.setpriv !== null ? [{ carrier: 'root' as const, uids }] : []),
    // Root without the right to mount: as another user from the start, which needs paths that are open to all.
    ...(wraps && isRoot && uids !== null ? [{ carrier: 'user' as const, uids }] : []),
    ...(wraps ? [{ carrier: 'user' as const, uids: null }] : []),
    ...(isRoot && uids !== null ? [{ carrier: 'none' as const, uids }] : []),
    { carrier: 'none', uids: null },
  ];
}

function wholeOf({ bench, cgroups, memory }: Means, { carrier, uids }: Carrier): Plan {
  const { tools, filter } = bench;
  return {
    ...{ carrier, uids },
    seccomp: carrier !== 'none' && filter !== null,
    // A shell is needed to join a group before bubblewrap.
    cgroups: carrier === 'none' || tools.shell !== null ? cgroups : null,
    limits: tools.prlimit === null ? null : { addresses: null, tasks: countsTasksApart(carrier, uids) ? TASKS : null },
    memory: memory + RUNTIME,
  };
}
