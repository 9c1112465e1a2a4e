import { openDatabase } from './driver.js';
import { tables } from './tables.js';

/**
 * The plugin imports nothing of the service: it contributes to facets by their id, and `host` has everything it may
 * use. So the folder works at any EXTENSIONS_PATH.
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
