import type { Host } from './capabilities/host.ts';
import type { ConfigKey } from './config/cast.ts';

/** The part of a package.json that `definePlugin` looks at, so that settings and manifest cannot drift apart. */
export interface ManifestFile {
  readonly name: string;
  readonly 'service:extension': { readonly path: string; readonly config?: Readonly<Record<string, object>> };
}

type Declares<Config> = ManifestFile & {
  readonly 'service:extension': { readonly config?: { readonly [K in keyof Config]: object } };
};

export interface Plugin<Config = Record<never, never>> {
  readonly manifest: Declares<Config>;
  /** Synchronous and without effect outside the host: provide, contribute, listen, add hooks. */
  register(host: Host<Config>): void;
}

/** A feature: a manifest plus a function that receives a host. The default export of a plugin's `index.ts`. */
export const definePlugin = <Config = Record<never, never>>(plugin: Plugin<Config>): Plugin<Config> => plugin;

export type { ConfigKey };
