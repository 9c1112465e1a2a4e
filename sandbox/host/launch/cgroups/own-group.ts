import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Texts of /proc/self/mountinfo and /proc/self/cgroup. */
export interface ProcSelfCgroupTexts {
  readonly mounts: string;
  readonly groups: string;
}

export function readProcSelfCgroupTexts(): ProcSelfCgroupTexts {
  const read = (path: string) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  };
  return { mounts: read('/proc/self/mountinfo'), groups: read('/proc/self/cgroup') };
}

/** Folder of this process's group in cgroup v2; null where it is not mounted. */
export function findOwnCgroupV2(procFiles: ProcSelfCgroupTexts): string | null {
  const mount = parseMounts(procFiles).find(({ type }) => type === 'cgroup2');
  const path = parseGroups(procFiles).find(({ controllers }) => controllers === '')?.path;
  return mount === undefined || path === undefined ? null : resolveInMount(mount, path);
}

/** Folder of this process's group for one controller of cgroup v1; null where it is not mounted. */
export function findOwnCgroupV1(procFiles: ProcSelfCgroupTexts, controller: string): string | null {
  const has = (list: string) => list.split(',').includes(controller);
  const mount = parseMounts(procFiles).find(({ type, options }) => type === 'cgroup' && has(options));
  const path = parseGroups(procFiles).find(({ controllers }) => has(controllers))?.path;
  return mount === undefined || path === undefined ? null : resolveInMount(mount, path);
}

interface Mount {
  /** The group that is the root of the mount. In a container it is often not the outermost one. */
  readonly root: string;
  readonly point: string;
  readonly type: string;
  readonly options: string;
}

/** Null for a group outside of the mount, since this process cannot write there. */
function resolveInMount({ root, point }: Mount, path: string): string | null {
  const inside = relative(root, path);
  return inside.startsWith('..') ? null : join(point, inside);
}

const parseMounts = ({ mounts }: ProcSelfCgroupTexts): readonly Mount[] =>
  mounts.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root, point] = before.split(' ');
    const [type, , options] = after.split(' ');
    return root && point && type && options !== undefined ? [{ root, point, type, options }] : [];
  });

const parseGroups = ({ groups }: ProcSelfCgroupTexts) =>
  groups.split('\n').flatMap((line) => {
    const found = line.match(/^\d+:([^:]*):(.*)$/);
    return found ? [{ controllers: found[1] as string, path: found[2] as string }] : [];
  });
