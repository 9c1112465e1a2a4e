import { join } from 'node:path';
import type { StorageDriver } from '../storage/contract.ts';
import { listLocalObjects } from './list.ts';
import { objectFolderOf } from './paths.ts';
import { openLocalObject, statLocalObject } from './read.ts';
import { removeLocalObject } from './remove.ts';
import { readStorageIdentity } from './storage-identity.ts';
import { writeLocalObject } from './write.ts';

/** Opens the driver that stores objects as files below `root`. */
export function openLocalStorageDriver(root: string): StorageDriver {
  const path = (name: string) => join(objectFolderOf(root, name), name);
  return {
    path,
    identity: () => readStorageIdentity(root),
    open: (name, range) => openLocalObject(path(name), range),
    stat: (name) => statLocalObject(path(name), name),
    list: (prefix) => listLocalObjects(root, prefix),
    write: (name, source) => writeLocalObject(root, name, source),
    remove: (name) => removeLocalObject(root, name),
  };
}
