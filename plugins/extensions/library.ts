/** What the plugins that load extensions share at run time. */

export type {
  BuildOptions,
  Loader,
  OnLoadResult,
  OnResolveArgs,
  OnResolveResult,
  Plugin as BuildPlugin,
} from 'esbuild';
/** Whether an extension has browser code and server code, and whether its server code is confined. */
export { hasAppPart, hasServerPart, isConfined } from './load/slot.ts';
export { stripNamePrefix } from './manifest/names.ts';
export { readManifest } from './manifest/read.ts';
/** The grants that a confined package requests, by contract key. */
export { grantsByEntry, serverEntries } from './manifest/requested-grants.ts';
export { LoadFailure } from './model.ts';
/** Registers the paths and the flow operations of packages under their names. */
export { createMounts } from './mounts.ts';
export { createPackageFlowOperations } from './package-flow-operations.ts';
/** esbuild for packages: with a deadline, in a process that all builds share. */
export { listBuildErrors, runBundler } from './packages/bundler.ts';
/** Reads a file of a package within limits. */
export { openPackageFiles, readCompleteFile } from './packages/package-files.ts';
/** The id of a third-party plugin, computed from its folder. */
export { createPluginId } from './third-party/folders.ts';
/** Finds the package whose code threw an uncaught error. */
export { findThrowingPackage } from './throwing-package.ts';
