/** The kernel's public surface: the only module of the kernel that plugins import, as `#kernel`. */
export type { RequestState } from './app.ts';
export { type AuditLine, auditText } from './capabilities/audit.ts';
export { type Capability, capabilities, listsWiden, type Subject } from './capabilities/capability.ts';
export type { Host, HostMembers } from './capabilities/host.ts';
export type { LedgerEntry } from './capabilities/ledger.ts';
export type { AsSystem, EventsApi } from './capabilities/own.ts';
export {
  type Invocation,
  Refusal,
  type RefusalCode,
  type RemoteMethod,
  type SecretReference,
  Secrets,
} from './capabilities/remote.ts';
export type { Admitted, SubjectSketch, Subjects } from './capabilities/subjects.ts';
export { CastError, type ConfigKey, cast } from './config/cast.ts';
export type { Environment } from './config/read.ts';
export { type Caller, ClientGone, isSystem, publicCaller, requestScope } from './context.ts';
export { ERRORS, type ErrorCode, envelope, Failure, Failures, fail, StatedFailure } from './errors.ts';
export type { ActionHandler, EventMeta, FilterHandler } from './events.ts';
export { type Contribution, type Facet, facet } from './facets.ts';
export { type BootOptions, boot, type Kernel } from './lifecycle/boot.ts';
export type { Composition } from './lifecycle/discover.ts';
export { BootFailure, type BootPhase } from './lifecycle/failure.ts';
export {
  type CheckStatus,
  commands,
  effects,
  type HealthCheck,
  health,
  type KernelCommand,
  type Middleware,
  middleware,
} from './lifecycle/kernel-facets.ts';
export type { HttpServer } from './lifecycle/serve.ts';
export type { Log } from './log.ts';
export { API_VERSION, problems } from './manifest/validate.ts';
export { definePlugin, type Plugin } from './plugin.ts';
export { type Service, type Services, service } from './services.ts';
export { VERSION } from './version.ts';
