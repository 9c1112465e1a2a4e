import { definePlugin } from '#kernel';
import { connections } from '../database/contract.ts';
import { createBus } from './bus.ts';
import { bus, lock } from './contract.ts';
import { createLock } from './lock.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const { db, log } = host;
    const used = host.use({ connections });
    const messages = createBus({ db, connections: used.connections, log });
    host.provide(lock, createLock(used.connections));
    host.provide(bus, messages);
    // Before any plugin reads what others may change, so that no message is missed in between.
    host.onMigrate(messages.listen);
    host.onStop(messages.stop);
  },
});
