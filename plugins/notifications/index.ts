import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { systemCollections } from '../schema/contract.ts';
import * as collections from './collections.ts';
import { notifications } from './contract.ts';
import { registerNotificationWriteChecks } from './notification-write-checks.ts';
import { createNotificationService } from './notify.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const { db, events } = host;
    const used = host.use({ items, access });
    const systemCaller = () => host.asSystem('it writes notices to users that their sender may not write to');
    host.contribute(systemCollections, collections.notificationsCollection);
    host.provide(notifications, createNotificationService({ db, items: used.items, system: systemCaller }));
    registerNotificationWriteChecks(used, events);
    for (const route of collectionRoutes(used.items, '/notifications', collections.NOTIFICATIONS_COLLECTION)) {
      host.contribute(routes, route);
    }
  },
});
