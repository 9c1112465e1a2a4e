import { ClientGone, Failure, fail, type Log } from '#kernel';
import { MediaError } from '../media/library.ts';
import type { StorageLocation, StorageService } from '../storage/contract.ts';

/**
 * Wraps the storage: errors of a backend are logged, and the client gets SERVICE_UNAVAILABLE without their text in place of
 * INTERNAL_SERVER_ERROR.
 */
export function withStorageErrorsAsUnavailable(storage: StorageService, log: Log): StorageService {
  const wrappers = new WeakMap<StorageLocation, StorageLocation>();
  return {
    ...storage,
    at(name) {
      const location = storage.at(name);
      let wrapped = wrappers.get(location);
      if (!wrapped) {
        wrapped = wrapLocation(location, log);
        wrappers.set(location, wrapped);
      }
      return wrapped;
    },
  };
}

function wrapLocation(location: StorageLocation, log: Log): StorageLocation {
  const toFailure = (error: unknown): never => {
    if (error instanceof Failure || error instanceof MediaError || error instanceof ClientGone) throw error;
    log.error({ err: error, storage: location.name }, 'the storage backend failed');
    throw fail('SERVICE_UNAVAILABLE', 'The storage cannot be used now.', { service: 'storage' });
  };
  return {
    ...location,
    open: (name, range) => location.open(name, range).catch(toFailure),
    write: (name, source, options) => location.write(name, source, options).catch(toFailure),
    remove: (name) => location.remove(name).catch(toFailure),
    stat: (name) => location.stat(name).catch(toFailure),
    asFile: (name, work) => location.asFile(name, work).catch(toFailure),
  };
}
