import type { Location, PlaceIdentity, StorageDriver } from './contract.ts';
import { passing } from './garbage.ts';
import { checkName, checkPrefix, isObjectName } from './names.ts';
import { withCopy } from './temporary-copy.ts';

/** One location by its driver, which sees sound names only. */
export function createLocation(location: string, driver: StorageDriver): Location {
  return {
    name: location,
    copies: driver.path === undefined,
    async open(name, range) {
      checkName(name);
      return driver.open(name, range);
    },
    async write(name, source, options) {
      checkName(name);
      return driver.write(name, told(source), options);
    },
    async remove(name) {
      checkName(name);
      await driver.remove(name);
    },
    async stat(name) {
      checkName(name);
      return driver.stat(name);
    },
    async *list(prefix) {
      checkPrefix(prefix);
      // Whatever else lies there is nobody's object.
      for await (const object of driver.list(prefix)) if (isObjectName(object.name)) yield object;
    },
    ...(driver.identity ? { identity: () => (driver.identity as () => Promise<PlaceIdentity>)() } : {}),
    async asFile(name, work) {
      checkName(name);
      if (!driver.path) return withCopy(driver, name, work);
      return (await driver.stat(name)) && work(driver.path(name));
    },
  };
}

async function* told(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const part of source) {
    passing(part.byteLength);
    yield part;
  }
}
