import { definePlugin } from '#kernel';
import { dedicatedConnections } from '../database/contract.ts';
import { createBus } from './bus.ts';
import { createConfirmation } from './confirmation.ts';
import { bus, lock, presence } from './contract.ts';
import { createLock } from './lock.ts';
import { createLockAttempt } from './lock-attempt.ts';
import manifest from './package.json' with { type: 'json' };
import { createPresence } from './presence.ts';
import { createSharedConnection } from './shared-connection.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { db, log } = host;
    const used = host.use({ connections: dedicatedConnections });
    const shared = createSharedConnection({ connections: used.connections, log });
    host.provide(lock, { ...createLock(used.connections), attempt: createLockAttempt(shared) });
    const messages = createBus({ db, shared, log });
    // Created after the bus, so that a process that is visible as alive already listens.
    const { self, ...present } = createPresence(db, shared);
    host.provide(presence, present);
    host.provide(bus, { ...messages, waitForConfirmation: createConfirmation({ shared, bus: messages, self, log }) });
    // Connects before any plugin reads values that other processes may change, so that no message is missed.
    host.onMigrate(shared.connect);
    host.onStop(shared.stop);
  },
});
