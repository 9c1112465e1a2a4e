import { definePlugin, type PackagesApi } from '#kernel';
import { type DescribedRoute, routing } from '../../../plugins/http/contract.ts';
import manifest from './package.json' with { type: 'json' };

/** What the plugins of a composition have registered, read by services and capabilities that any core plugin may use. */
export interface PluginRegistrations {
  readonly routes: readonly DescribedRoute[];
  readonly capabilities: ReturnType<PackagesApi['capabilities']>;
  readonly audit: ReturnType<PackagesApi['auditLines']>;
}

let read: (() => PluginRegistrations) | undefined;

/** Returns what the plugins have registered. Call it after the boot of a composition that this plugin is part of. */
export function readPluginRegistrations(): PluginRegistrations {
  if (!read) throw new Error('the reader has not registered');
  return read();
}

export default definePlugin({
  manifest,
  register(host) {
    const { routing: claims } = host.use({ routing });
    read = () => ({
      routes: claims.describeRoutes(),
      capabilities: host.packages.capabilities(),
      audit: host.packages.auditLines(),
    });
  },
});
