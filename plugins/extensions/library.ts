/** Why something did not load: with a code, and a detail that is redacted before it is shown. */

export type {
  BuildOptions,
  Loader,
  OnLoadResult,
  OnResolveArgs,
  OnResolveResult,
  Plugin as BuildPlugin,
} from 'esbuild';
/** Which halves an extension has, and whether its server half is confined. */
export { hasAppPart, hasServerPart, isConfined } from './load/slot.ts';
export { stripNamePrefix } from './manifest/names.ts';
export { readManifest } from './manifest/read.ts';
/** What a confined package asks for, by contract key. */
export { grantsByEntry, serverEntries } from './manifest/requested-grants.ts';
export { LoadFailure } from './model.ts';
/** How packages answer requests and add steps to flows, under their names. */
export { createMounts } from './mounts.ts';
export { createPackageOperations } from './package-operations.ts';
/** esbuild for packages: limited in time, in a process that all share. */
export { listBuildErrors, runBundler } from './packages/bundler.ts';
/** Reads a file of a package within limits. */
export { openPackageFiles, readCompleteFile } from './packages/package-files.ts';
/** The id of the place of a third-party plugin. */
export { createPluginId } from './third-party/folders.ts';
/** Whose code threw an error that nobody caught. */
export { culpritOf } from './throwing-package.ts';
