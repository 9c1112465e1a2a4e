import type { Host } from './capabilities/plugin-host.ts';

/** The part of package.json whose type `definePlugin` checks, so that `Config` has exactly the settings of the manifest. */
interface ManifestFile<Config> {
  readonly name: string;
  readonly 'service:extension': { readonly path: string; readonly config?: { readonly [K in keyof Config]: object } };
}

/** `Config` are the settings of the plugin, `Shared` those of other plugins that its manifest lists under `config.shared`. */
export interface Plugin<Config = Record<never, never>, Shared = Record<never, never>> {
  readonly manifest: ManifestFile<Config>;
  /** Synchronous, and without effects outside of `host`: provide, contribute, listen, add hooks. */
  register(host: Host<Config & Shared>): void;
}

/** A feature: a manifest plus a function that receives a host. The default export of a plugin's `index.ts`. */
export const definePlugin = <Config = Record<never, never>, Shared = Record<never, never>>(
  plugin: Plugin<Config, Shared>,
): Plugin<Config, Shared> => plugin;
