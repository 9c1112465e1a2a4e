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

/** Answers `GET /` by links, or by a redirect to `target`; `false` is no redirect. `hasHealth`: the service serves its health. */
export const createRootRouteHandler =
  (target: string, hasHealth: boolean) =>
  (ctx: HttpContext): void => {
    if (target === 'false') {
      const { health, ...others } = LINKS;
      sendData(ctx, { service: 'Tenon', links: hasHealth ? LINKS : others });
      return;
    }
    ctx.status = 302;
    ctx.set('Location', target);
    ctx.body = '';
  };
