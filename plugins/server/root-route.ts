import type { HttpContext } from '../http/contract.ts';
import { sendData } from '../http/library.ts';

/** The links that `GET /` answers. They are relative, because a proxy may serve the service under a path. */
const LINKS = {
  info: './server/info',
  health: './server/health',
  login: './auth/login',
  items: './items/<collection>',
  graphql: './graphql',
};

/** Answers `GET /` by links, or by a redirect to `target`; `false` is no redirect. */
export const createRootRouteHandler =
  (target: string) =>
  (ctx: HttpContext): void => {
    if (target === 'false') {
      sendData(ctx, { service: 'Tenon', links: LINKS });
      return;
    }
    ctx.status = 302;
    ctx.set('Location', target);
    ctx.body = '';
  };
