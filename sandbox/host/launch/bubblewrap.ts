import { dirname } from 'node:path';

export interface BubblewrapMounts {
  /** Where it appears to the child, and what it is: files alone, all read-only. */
  readonly files: ReadonlyMap<string, string>;
}

/** The descriptor from which bubblewrap reads the filter. */
export const FILTER_FD = 4;

/**
 * Arguments of bubblewrap up to the command: own namespaces of every kind, a root in which nothing but these files is and
 * nothing can be written, no /proc and no /dev, another host name, and an end when the service ends. Variables are
 * set by whoever spawns it; bubblewrap itself sets PWD. No option is newer than version 0.4.
 *
 * Root does without a user namespace: inside of one it would stay root's own files' owner. It keeps the three rights that
 * setpriv needs to change the user and to drop these rights as well.
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
    // Folders that bubblewrap makes without being told are closed to everybody but root.
    ...listParentFolders([...files.keys()]).flatMap((folder) => ['--dir', folder]),
    ...[...files].flatMap(([inside, outside]) => ['--ro-bind', outside, inside]),
    ...['--hostname', 'guest', '--remount-ro', '/', '--chdir', '/'],
    ...(seccomp ? ['--seccomp', String(FILTER_FD)] : []),
    '--',
  ];
}

/** Every folder above these files, the outer ones first. */
function listParentFolders(paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) for (let at = dirname(path); at !== '/'; at = dirname(at)) found.add(at);
  return [...found].sort((a, b) => a.length - b.length);
}
