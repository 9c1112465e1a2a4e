import { openDatabase } from './driver.js';
import { tables } from './tables.js';

/**
 * A plugin imports nothing of the service: what it adds to is known by its id, and everything it may touch comes with `host`.
 * So the folder works wherever EXTENSIONS_PATH is.
 */
export default {
  register(host) {
    host.contribute({ id: 'database.migrations' }, tables(host.db));
    host.contribute(
      { id: 'storage.drivers' },
      { name: 'database', open: ({ location }) => openDatabase(host.db, location) },
    );
  },
};
