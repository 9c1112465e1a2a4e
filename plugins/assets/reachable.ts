import { ClientGone, Failure, fail, type Log } from '#kernel';
import { MediaError } from '../media/library.ts';
import type { Location, Storage } from '../storage/contract.ts';

/**
 * The storage, whose backends have words of their own for what goes wrong there: they are for the log. A client hears that the
 * bytes cannot be had now, which is another thing than a fault of the service.
 */
export function reachable(storage: Storage, log: Log): Storage {
  const known = new WeakMap<Location, Location>();
  return {
    ...storage,
    at(name) {
      const location = storage.at(name);
      let told = known.get(location);
      if (!told) {
        told = tellingOf(location, log);
        known.set(location, told);
      }
      return told;
    },
  };
}

function tellingOf(location: Location, log: Log): Location {
  const tell = (error: unknown): never => {
    if (error instanceof Failure || error instanceof MediaError || error instanceof ClientGone) throw error;
    log.error({ err: error, storage: location.name }, 'the storage failed');
    throw fail('SERVICE_UNAVAILABLE', 'The storage cannot be used now.', { service: 'storage' });
  };
  return {
    ...location,
    open: (name, range) => location.open(name, range).catch(tell),
    write: (name, source, options) => location.write(name, source, options).catch(tell),
    remove: (name) => location.remove(name).catch(tell),
    stat: (name) => location.stat(name).catch(tell),
    asFile: (name, work) => location.asFile(name, work).catch(tell),
  };
}
