import { buildBubblewrapArguments } from './bubblewrap.ts';
import type { ControlGroup } from './cgroups/group.ts';
import type { LaunchFiles } from './launch-files.ts';
import { type ChildLaunchPlan, MAX_OPEN_FILES } from './launch-plan.ts';

/** Paths of files inside of a confined child. */
const CHILD_PATHS = {
  node: '/node',
  runner: '/runner.cjs',
  native: '/isolated_vm.node',
  setpriv: '/setpriv',
  prlimit: '/prlimit',
};

/** A busy child yields to the service. */
const NICENESS = 10;

/**
 * Builds the command line of a child, outermost program first: join the groups, nice, bubblewrap, setpriv, prlimit,
 * Node. Each program replaces itself with the next one.
 */
export function buildChildCommand(
  resources: LaunchFiles,
  plan: ChildLaunchPlan,
  program: string,
  group: ControlGroup | null,
  uid: number | null,
) {
  const confined = plan.namespaceMode !== 'none';
  const pathInChild = (name: keyof typeof CHILD_PATHS, path: string) => (confined ? CHILD_PATHS[name] : path);
  const { tools } = resources;
  return [
    ...(confined && group !== null ? buildJoinCommand(tools.shell as string, group) : []),
    ...(tools.nice === null ? [] : [tools.nice, '-n', String(NICENESS)]),
    ...(plan.namespaceMode === 'none' ? [] : buildBubblewrapCommand(resources, plan, plan.namespaceMode, program)),
    ...(tools.setpriv === null ? [] : buildSetprivCommand(pathInChild('setpriv', tools.setpriv), plan, uid)),
    ...(tools.prlimit === null || plan.limits === null
      ? []
      : buildPrlimitCommand(pathInChild('prlimit', tools.prlimit), plan.limits)),
    pathInChild('node', resources.node),
    ...resources.flags,
    pathInChild('runner', program),
    ...(resources.native === null ? [] : [pathInChild('native', resources.native)]),
  ];
}

/** bubblewrap starts processes immediately, so the shell joins the groups before it executes bubblewrap. */
const buildJoinCommand = (shell: string, group: ControlGroup): readonly string[] => [
  ...[
    shell,
    '-c',
    'for door do shift; [ "$door" = -- ] && break; echo $$ > "$door" || exit 125; done; exec "$@"',
    'sh',
  ],
  ...group.procsFiles,
  '--',
];

function buildBubblewrapCommand(
  { tools, node, native, libraries }: LaunchFiles,
  plan: ChildLaunchPlan,
  namespaceMode: 'root' | 'user',
  program: string,
) {
  const files = new Map((libraries ?? []).map((path) => [path, path]));
  files.set(CHILD_PATHS.node, node).set(CHILD_PATHS.runner, program);
  if (native !== null) files.set(CHILD_PATHS.native, native);
  if (tools.setpriv !== null) files.set(CHILD_PATHS.setpriv, tools.setpriv);
  if (tools.prlimit !== null && plan.limits !== null) files.set(CHILD_PATHS.prlimit, tools.prlimit);
  return [tools.bubblewrap as string, ...buildBubblewrapArguments(namespaceMode, { files }, plan.seccomp)];
}

/** Without bubblewrap `spawn` has already changed the user, and setpriv only sets no-new-privileges. */
function buildSetprivCommand(
  setpriv: string,
  { namespaceMode }: ChildLaunchPlan,
  uid: number | null,
): readonly string[] {
  if (namespaceMode === 'user') return [];
  if (namespaceMode === 'none' || uid === null) return [setpriv, '--no-new-privs', '--'];
  const identity = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  return [setpriv, ...identity, '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--'];
}

const buildPrlimitCommand = (
  prlimit: string,
  { addresses, tasks }: NonNullable<ChildLaunchPlan['limits']>,
): readonly string[] => [
  ...[prlimit, '--core=0', '--fsize=0', `--nofile=${MAX_OPEN_FILES}`],
  ...(tasks === null ? [] : [`--nproc=${tasks}`]),
  ...(addresses === null ? [] : [`--as=${addresses}`]),
  '--',
];
