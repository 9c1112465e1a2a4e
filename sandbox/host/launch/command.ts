import type { Bench } from './bench.ts';
import { bubblewrapArguments } from './bubblewrap.ts';
import type { Group } from './cgroups/group.ts';
import { OPEN_FILES, type Plan } from './plan.ts';

/** Names under which a confined child sees its files. */
const INSIDE = {
  node: '/node',
  runner: '/runner.cjs',
  native: '/isolated_vm.node',
  setpriv: '/setpriv',
  prlimit: '/prlimit',
};

/** How much a hot child stands back. */
const NICENESS = 10;

/**
 * The whole command line of a child, from the outside in: join the groups, be nice, bubblewrap, give the user up, limits,
 * Node. Each step executes the next one in its place.
 */
export function commandOf(bench: Bench, plan: Plan, program: string, group: Group | null, uid: number | null) {
  const confined = plan.carrier !== 'none';
  const place = (name: keyof typeof INSIDE, path: string) => (confined ? INSIDE[name] : path);
  const { tools } = bench;
  return [
    ...(confined && group !== null ? joining(tools.shell as string, group) : []),
    ...(tools.nice === null ? [] : [tools.nice, '-n', String(NICENESS)]),
    ...(plan.carrier === 'none' ? [] : wrapping(bench, plan, plan.carrier, program)),
    ...(tools.setpriv === null ? [] : givingUp(place('setpriv', tools.setpriv), plan, uid)),
    ...(tools.prlimit === null || plan.limits === null ? [] : limiting(place('prlimit', tools.prlimit), plan.limits)),
    place('node', bench.node),
    ...bench.flags,
    place('runner', program),
    ...(bench.native === null ? [] : [place('native', bench.native)]),
  ];
}

/** bubblewrap starts processes at once, so it must be in the groups before it runs. */
const joining = (shell: string, group: Group): readonly string[] => [
  ...[
    shell,
    '-c',
    'for door do shift; [ "$door" = -- ] && break; echo $$ > "$door" || exit 125; done; exec "$@"',
    'sh',
  ],
  ...group.doors,
  '--',
];

function wrapping({ tools, node, native, libraries }: Bench, plan: Plan, carrier: 'root' | 'user', program: string) {
  const files = new Map((libraries ?? []).map((path) => [path, path]));
  files.set(INSIDE.node, node).set(INSIDE.runner, program);
  if (native !== null) files.set(INSIDE.native, native);
  if (tools.setpriv !== null) files.set(INSIDE.setpriv, tools.setpriv);
  if (tools.prlimit !== null && plan.limits !== null) files.set(INSIDE.prlimit, tools.prlimit);
  return [tools.bubblewrap as string, ...bubblewrapArguments(carrier, { files }, plan.seccomp)];
}

/** Without bubblewrap the user was changed before anything runs, and only the promise is left to make. */
function givingUp(setpriv: string, { carrier }: Plan, uid: number | null): readonly string[] {
  if (carrier === 'user') return [];
  if (carrier === 'none' || uid === null) return [setpriv, '--no-new-privs', '--'];
  const identity = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  return [setpriv, ...identity, '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--'];
}

const limiting = (prlimit: string, { addresses, tasks }: NonNullable<Plan['limits']>): readonly string[] => [
  ...[prlimit, '--core=0', '--fsize=0', `--nofile=${OPEN_FILES}`],
  ...(tasks === null ? [] : [`--nproc=${tasks}`]),
  ...(addresses === null ? [] : [`--as=${addresses}`]),
  '--',
];
