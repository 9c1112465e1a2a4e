/** Why something did not load: with a code, and a detail that is redacted before it is shown. */

export type {
  BuildOptions,
  Loader,
  OnLoadResult,
  OnResolveArgs,
  OnResolveResult,
  Plugin as BuildPlugin,
} from 'esbuild';
/** Whose code threw an error that nobody caught. */
export { culpritOf } from './culprits.ts';
/** Which halves an extension has, and whether its server half is confined. */
export { hasAppPart, hasServerPart, isConfined } from './load/slot.ts';
/** What a confined package asks for, by contract key. */
export { grantsByEntry, serverEntries } from './manifest/grants.ts';
export { withoutPrefix } from './manifest/names.ts';
export { readManifest } from './manifest/read.ts';
export { LoadFailure } from './model.ts';
/** How packages answer requests and add steps to flows, under their names. */
export { createMounts } from './mounts.ts';
export { createOffers } from './offers.ts';
/** esbuild for packages: limited in time, in a process that all share. */
export { bundle, messagesOf } from './packages/bundler.ts';
/** Reads a file of a package within limits. */
export { packageFiles, readWhole } from './packages/package-files.ts';
/** The id of the place of a third-party plugin. */
export { pluginPlace } from './third-party/folders.ts';
