import { definePlugin } from '#kernel';
import '../database/contract.ts';
import { mail } from '../mail/contract.ts';
import { createNotificationMailer } from './mail-notification.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ mail });
    host.events.onFilter('notifications.create', createNotificationMailer({ ...used, db: host.db, log: host.log }));
  },
});
