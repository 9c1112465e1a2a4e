/** What the plugins that load extensions share at run time. */

export type {
  BuildOptions,
  Loader,
  OnLoadResult,
  OnResolveArgs,
  OnResolveResult,
  Plugin as BuildPlugin,
} from 'esbuild';
export { LoadFailure } from './extension-types.ts';
/** Whether an extension has browser code and server code, and whether its server code is confined. */
export { hasExtensionAppPart, hasExtensionServerPart, isConfinedExtension } from './load/extension-load-state.ts';
export { stripExtensionNamePrefix } from './manifest/extension-package-names.ts';
export { readManifest } from './manifest/read.ts';
/** The grants that a confined package requests, by contract key. */
export { findRequestedGrantsByEntry, listServerBundleEntries } from './manifest/requested-grants.ts';
/** Registers the paths and the flow operations of packages under their names. */
export { createPackageMountRegistry } from './mounts.ts';
export { createPackageFlowOperations } from './package-flow-operations.ts';
/** esbuild for packages: with a deadline, in a process that all builds share. */
export { listBuildErrors, runEsbuildWithDeadline } from './packages/bundler.ts';
/** Reads a file of a package within limits. */
export { openPackageFileReader, readCompleteFile } from './packages/package-files.ts';
/** The id of a third-party plugin, computed from its folder. */
export { hashPluginFolderToId } from './third-party/folders.ts';
/** Finds the package whose code threw an uncaught error. */
export { findThrowingPackage } from './throwing-package.ts';
