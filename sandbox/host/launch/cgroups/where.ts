import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Texts of /proc/self/mountinfo and /proc/self/cgroup. */
export interface Facts {
  readonly mounts: string;
  readonly groups: string;
}

export function readFacts(): Facts {
  const read = (path: string) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  };
  return { mounts: read('/proc/self/mountinfo'), groups: read('/proc/self/cgroup') };
}

/** Folder of the group this process is in, in the newer hierarchy; null where it is not mounted. */
export function ownV2(facts: Facts): string | null {
  const mount = mountsOf(facts).find(({ type }) => type === 'cgroup2');
  const path = groupsOf(facts).find(({ controllers }) => controllers === '')?.path;
  return mount === undefined || path === undefined ? null : within(mount, path);
}

/** Folder of the group this process is in for one controller of the older hierarchy. */
export function ownV1(facts: Facts, controller: string): string | null {
  const has = (list: string) => list.split(',').includes(controller);
  const mount = mountsOf(facts).find(({ type, options }) => type === 'cgroup' && has(options));
  const path = groupsOf(facts).find(({ controllers }) => has(controllers))?.path;
  return mount === undefined || path === undefined ? null : within(mount, path);
}

interface Mount {
  /** The group that is mounted: in a container often not the outermost. */
  readonly root: string;
  readonly point: string;
  readonly type: string;
  readonly options: string;
}

/** A group outside of what is mounted belongs to somebody else. */
function within({ root, point }: Mount, path: string): string | null {
  const inside = relative(root, path);
  return inside.startsWith('..') ? null : join(point, inside);
}

const mountsOf = ({ mounts }: Facts): readonly Mount[] =>
  mounts.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root, point] = before.split(' ');
    const [type, , options] = after.split(' ');
    return root && point && type && options !== undefined ? [{ root, point, type, options }] : [];
  });

const groupsOf = ({ groups }: Facts) =>
  groups.split('\n').flatMap((line) => {
    const found = line.match(/^\d+:([^:]*):(.*)$/);
    return found ? [{ controllers: found[1] as string, path: found[2] as string }] : [];
  });
