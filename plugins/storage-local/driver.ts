import { join } from 'node:path';
import type { StorageDriver } from '../storage/contract.ts';
import { listObjects } from './list.ts';
import { folderOf } from './paths.ts';
import { openObject, statObject } from './read.ts';
import { removeObject } from './remove.ts';
import { readStorageIdentity } from './storage-identity.ts';
import { writeObject } from './write.ts';

/** Opens the driver that stores objects as files below `root`. */
export function openLocalDriver(root: string): StorageDriver {
  const path = (name: string) => join(folderOf(root, name), name);
  return {
    path,
    identity: () => readStorageIdentity(root),
    open: (name, range) => openObject(path(name), range),
    stat: (name) => statObject(path(name), name),
    list: (prefix) => listObjects(root, prefix),
    write: (name, source) => writeObject(root, name, source),
    remove: (name) => removeObject(root, name),
  };
}
