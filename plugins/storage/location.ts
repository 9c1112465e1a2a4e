import type { StorageDriver, StorageIdentity, StorageLocation } from './contract.ts';
import { countBytesForGarbageCollection } from './heap-garbage-collection.ts';
import { assertStorageObjectName, assertStorageObjectNamePrefix, isStorageObjectName } from './object-names.ts';
import { withTemporaryCopy } from './temporary-copy.ts';

/** Creates a storage location from its driver, which gets valid names only. */
export function createStorageLocation(location: string, driver: StorageDriver): StorageLocation {
  return {
    name: location,
    copies: driver.path === undefined,
    async open(name, range) {
      assertStorageObjectName(name);
      return driver.open(name, range);
    },
    async write(name, source, options) {
      assertStorageObjectName(name);
      return driver.write(name, countBytes(source), options);
    },
    async remove(name) {
      assertStorageObjectName(name);
      await driver.remove(name);
    },
    async stat(name) {
      assertStorageObjectName(name);
      return driver.stat(name);
    },
    async *list(prefix) {
      assertStorageObjectNamePrefix(prefix);
      // Entries with other names are not objects of the service.
      for await (const object of driver.list(prefix)) if (isStorageObjectName(object.name)) yield object;
    },
    ...(driver.identity ? { identity: () => (driver.identity as () => Promise<StorageIdentity>)() } : {}),
    async asFile(name, work) {
      assertStorageObjectName(name);
      if (!driver.path) return withTemporaryCopy(driver, name, work);
      return (await driver.stat(name)) && work(driver.path(name));
    },
  };
}

async function* countBytes(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const part of source) {
    countBytesForGarbageCollection(part.byteLength);
    yield part;
  }
}
