import { definePlugin, VERSION } from '#kernel';
import { dedicatedConnections } from '../database/contract.ts';
import { renderVersionLockSql } from '../database/library.ts';
import { createInterProcessBus } from './bus.ts';
import { createWaitForBusConfirmation } from './bus-confirmation.ts';
import { bus, lock, presence } from './contract.ts';
import { createAdvisoryLock } from './lock.ts';
import { createAdvisoryLockAttempt } from './lock-attempt.ts';
import manifest from './package.json' with { type: 'json' };
import { createProcessPresence } from './presence.ts';
import { createListenAndLockConnection } from './shared-connection.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { db, log } = host;
    const used = host.use({ connections: dedicatedConnections });
    const shared = createListenAndLockConnection({ connections: used.connections, log });
    host.provide(lock, { ...createAdvisoryLock(used.connections, db), attempt: createAdvisoryLockAttempt(shared) });
    const messages = createInterProcessBus({ db, shared, log });
    // Created after the bus, so that a process that is visible as alive already listens.
    const { self, ...present } = createProcessPresence(db, shared);
    host.provide(presence, present);
    host.provide(bus, {
      ...messages,
      waitForConfirmation: createWaitForBusConfirmation({ shared, bus: messages, self, log }),
    });
    shared.onConnect(async (connection) => void (await connection.query(renderVersionLockSql(VERSION))));
    // Connects before any plugin reads values that other processes may change, so that no message is missed, and before migrations,
    // so that a newer version sees this one.
    used.connections.beforeMigrations(shared.connect);
    host.onStop(shared.stop);
  },
});
