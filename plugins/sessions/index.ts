import { definePlugin } from '#kernel';
import { sessionDirectory } from '../auth/contract.ts';
import { routes } from '../http/contract.ts';
import { notifications } from '../notifications/contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createReuseNotice } from './reuse-notice.ts';
import { sessionRoutes } from './routes.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { 'session-directory': sessions, notifications: notices } = host.use({
      'session-directory': sessionDirectory,
      notifications,
    });
    for (const route of sessionRoutes(sessions)) host.contribute(routes, route);
    host.events.onAction('auth.reuse', createReuseNotice({ notifications: notices, log: host.log }));
  },
});
