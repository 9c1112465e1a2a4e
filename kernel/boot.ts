/** Exports what starts a kernel, for the command line and tests. Plugins import `#kernel` instead of this file. */

export { mintCaller, mintPublicCaller, mintSystemCaller } from './caller.ts';
export type { AuditLine } from './capabilities/grant.ts';
export type { ConfigKey } from './config/cast.ts';
export type { Environment } from './config/environment.ts';
export { type BootOptions, boot, KERNEL_CONFIG, type Kernel } from './lifecycle/boot.ts';
export { BootFailure, type BootPhase } from './lifecycle/boot-failure.ts';
export type { CorePluginFolders } from './lifecycle/discover.ts';
export type { HttpServer } from './lifecycle/serve.ts';
export { createLog } from './log.ts';
