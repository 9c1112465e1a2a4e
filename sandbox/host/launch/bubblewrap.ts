import { dirname } from 'node:path';

export interface BubblewrapMounts {
  /** Path in the child to path on the host. Files only, all read-only. */
  readonly files: ReadonlyMap<string, string>;
}

/** The descriptor from which bubblewrap reads the seccomp filter. */
export const SECCOMP_FILTER_FD = 4;

/**
 * Arguments of bubblewrap up to the command: namespaces of every kind, a read-only root that holds these files alone,
 * no /proc and no /dev, another host name, and an end with the service. The caller of `spawn` sets the environment;
 * bubblewrap itself sets PWD. Version 0.4 has every option.
 *
 * As root no user namespace is made: inside of one the child would still own root's files. The three capabilities are
 * for setpriv, which changes the user and then drops them.
 */
export function buildBubblewrapArguments(
  namespaceMode: 'root' | 'user',
  { files }: BubblewrapMounts,
  seccomp: boolean,
): readonly string[] {
  return [
    ...(namespaceMode === 'user' ? ['--unshare-user'] : []),
    ...['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...(namespaceMode === 'root'
      ? ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'].flatMap((name) => ['--cap-add', name])
      : []),
    // Folders that bubblewrap creates implicitly are readable by root only.
    ...listParentFolders([...files.keys()]).flatMap((folder) => ['--dir', folder]),
    ...[...files].flatMap(([inside, outside]) => ['--ro-bind', outside, inside]),
    ...['--hostname', 'guest', '--remount-ro', '/', '--chdir', '/'],
    ...(seccomp ? ['--seccomp', String(SECCOMP_FILTER_FD)] : []),
    '--',
  ];
}

/** All parent folders of these files, outer folders first. */
function listParentFolders(paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) for (let at = dirname(path); at !== '/'; at = dirname(at)) found.add(at);
  return [...found].sort((a, b) => a.length - b.length);
}
