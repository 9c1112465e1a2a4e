import { existsSync, readFileSync } from 'node:fs';

/** The rules of container engines on Debian (package golang-github-containers-common). */
const PROFILE = '/usr/share/containers/seccomp.json';

interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly args?: readonly object[];
  readonly errnoRet?: number;
  readonly includes?: { readonly caps?: readonly string[]; readonly arches?: readonly string[] };
  readonly excludes?: { readonly caps?: readonly string[]; readonly arches?: readonly string[] };
}

const ARCHITECTURES: Readonly<Record<string, readonly string[]>> = { x64: ['amd64', 'x32'], arm64: ['arm64'] };

/** System calls by which a process gets namespaces and mounts of its own. The profile allows them; engines with a daemon do not. */
const NAMESPACES = new Set(
  'clone clone3 fsconfig fsmount fsopen fspick mount mount_setattr move_mount open_tree pivot_root setns umount umount2 unshare'.split(
    ' ',
  ),
);
/** Flags of `clone` that make namespaces. */
const NAMESPACE_FLAGS = 0x7e020000;
const ENOSYS = 38;

/**
 * The rules for system calls of a process without capabilities, in the form of the runtime: those of the profile, without namespaces.
 * Undefined where this machine has no profile.
 */
export function renderSystemCallRules(): object | undefined {
  if (!existsSync(PROFILE)) return undefined;
  const { defaultAction, defaultErrnoRet, syscalls } = JSON.parse(readFileSync(PROFILE, 'utf8')) as {
    readonly defaultAction: string;
    readonly defaultErrnoRet: number;
    readonly syscalls: readonly Rule[];
  };
  const here = ARCHITECTURES[process.arch] ?? [];
  const isHere = (arches: readonly string[] | undefined) => arches?.some((one) => here.includes(one)) ?? false;
  const applies = ({ includes = {}, excludes = {} }: Rule) =>
    !includes.caps?.length && (!includes.arches?.length || isHere(includes.arches)) && !isHere(excludes.arches);
  const rules = syscalls.filter(applies).flatMap(({ names, action, args, errnoRet }) => {
    const left = names.filter((name) => !NAMESPACES.has(name));
    const detail = { ...(args?.length ? { args } : {}), ...(errnoRet === undefined ? {} : { errnoRet }) };
    return left.length > 0 ? [{ names: left, action, ...detail }] : [];
  });
  const withoutFlags = { index: 0, value: NAMESPACE_FLAGS, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' };
  return {
    defaultAction,
    defaultErrnoRet,
    syscalls: [
      ...rules,
      { names: ['clone'], action: 'SCMP_ACT_ALLOW', args: [withoutFlags] },
      // Libraries take `clone` then, whose flags can be looked at.
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    ],
  };
}
