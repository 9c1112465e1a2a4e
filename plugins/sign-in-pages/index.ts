import { definePlugin, middleware } from '#kernel';
import { identity, sealedValues, signInProviders } from '../auth/contract.ts';
import { internalRequests, routes, routing } from '../http/contract.ts';
import { settings } from '../settings/contract.ts';
import { createBrandingReader } from './branding.ts';
import { pageEmbeds } from './contract.ts';
import { createFormTokens } from './form-token.ts';
import manifest from './package.json' with { type: 'json' };
import { createPageFailureMiddleware } from './page-failures.ts';
import { createPageFileRoute, readPageFiles } from './page-files.ts';
import { createPageSender } from './page-response.ts';
import type { PageTools } from './page-tools.ts';
import { loginRoutes } from './pages/login-routes.ts';
import { acceptInviteRoutes, resetPasswordRoutes } from './pages/password-routes.ts';
import { providerCodeRoutes } from './pages/provider-code-routes.ts';
import { logoutRoutes, startPageRoute } from './pages/session-routes.ts';
import { shareRoutes } from './pages/share-routes.ts';
import { verifyEmailRoutes } from './pages/verify-email-routes.ts';

interface Shared {
  PUBLIC_URL: string;
  REFRESH_TOKEN_COOKIE_SECURE: boolean;
}

interface Config {
  SERVE_APP: boolean;
}

export default definePlugin<Config, Shared>({
  manifest,
  register(host) {
    const used = host.use({ identity, internalRequests, routing, sealedValues, settings, signInProviders });
    const secure = host.config.REFRESH_TOKEN_COOKIE_SECURE;
    const readBranding = createBrandingReader(used.settings);
    host.define(pageEmbeds);
    if (!host.config.SERVE_APP) return;
    const { names, files } = readPageFiles();
    const sendPage = createPageSender(readBranding, names, () => host.read(pageEmbeds));
    const tools: PageTools = {
      api: used.internalRequests,
      forms: createFormTokens({ secure }),
      identity: used.identity,
      path: pathOf(host.config.PUBLIC_URL),
      providers: used.signInProviders,
      routing: used.routing,
      sealed: used.sealedValues,
      sendPage,
      secure,
    };
    host.contribute(middleware, createPageFailureMiddleware(sendPage, host.log));
    host.contribute(routes, createPageFileRoute(files, readBranding));
    host.contribute(routes, startPageRoute(tools));
    const pages = [
      loginRoutes,
      providerCodeRoutes,
      logoutRoutes,
      resetPasswordRoutes,
      acceptInviteRoutes,
      verifyEmailRoutes,
      shareRoutes,
    ];
    for (const route of pages.flatMap((routesOf) => routesOf(tools))) host.contribute(routes, route);
  },
});

/** The path below which clients reach the service; empty for the root of its host, and where PUBLIC_URL is no address. */
const pathOf = (publicUrl: string): string => URL.parse(publicUrl)?.pathname.replace(/\/+$/, '') ?? '';
