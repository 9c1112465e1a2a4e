import type { StorageDriver, StorageIdentity, StorageLocation } from './contract.ts';
import { countBytesForHeapCollection } from './heap-garbage-collection.ts';
import { assertObjectName, assertObjectNamePrefix, isObjectName } from './object-names.ts';
import { withTemporaryCopy } from './temporary-copy.ts';

/** Creates a storage location from its driver, which gets valid names only. */
export function createLocation(location: string, driver: StorageDriver): StorageLocation {
  return {
    name: location,
    copies: driver.path === undefined,
    async open(name, range) {
      assertObjectName(name);
      return driver.open(name, range);
    },
    async write(name, source, options) {
      assertObjectName(name);
      return driver.write(name, countBytes(source), options);
    },
    async remove(name) {
      assertObjectName(name);
      await driver.remove(name);
    },
    async stat(name) {
      assertObjectName(name);
      return driver.stat(name);
    },
    async *list(prefix) {
      assertObjectNamePrefix(prefix);
      // Entries with other names are not objects of the service.
      for await (const object of driver.list(prefix)) if (isObjectName(object.name)) yield object;
    },
    ...(driver.identity ? { identity: () => (driver.identity as () => Promise<StorageIdentity>)() } : {}),
    async asFile(name, work) {
      assertObjectName(name);
      if (!driver.path) return withTemporaryCopy(driver, name, work);
      return (await driver.stat(name)) && work(driver.path(name));
    },
  };
}

async function* countBytes(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const part of source) {
    countBytesForHeapCollection(part.byteLength);
    yield part;
  }
}
