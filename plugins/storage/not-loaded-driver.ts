import { fail, type Log } from '#kernel';
import type { StorageDriver } from './contract.ts';
import type { StorageLocationConfig } from './settings.ts';

/**
 * Stands for a driver of a package, which SAFE_MODE does not load: the service has to start then, and commands have to work. Callers
 * get SERVICE_UNAVAILABLE for objects of the location.
 */
export function createNotLoadedDriver({ location, driver }: StorageLocationConfig, log: Log): StorageDriver {
  log.warn({ location, driver }, 'SAFE_MODE is on: the driver of a storage location is not loaded');
  const refuse = () =>
    fail(
      'SERVICE_UNAVAILABLE',
      `the driver ${driver} of the storage location ${location} is not loaded under SAFE_MODE`,
    );
  const reject = async () => {
    throw refuse();
  };
  return {
    open: reject,
    write: reject,
    remove: reject,
    stat: reject,
    list() {
      throw refuse();
    },
  };
}
