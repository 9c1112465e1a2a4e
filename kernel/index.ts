/** The kernel as plugins see it, imported as `#kernel`. What starts a kernel is `#kernel/boot`. */

export { type Caller, type CallerFields, isCaller, isSystem } from './caller.ts';
export type { Authority, Capability, GrantHolder } from './capabilities/capability.ts';
export { authorities, capabilities, listsWiden } from './capabilities/capability.ts';
export type { EventsApi } from './capabilities/events.ts';
export { type AuditLine, activeGrants, describeGrants } from './capabilities/grant.ts';
export type { IdentityApi } from './capabilities/identity.ts';
export type { AsSystem } from './capabilities/kernel-capabilities.ts';
export type { LedgerEntry } from './capabilities/ledger.ts';
export type { PackagesApi } from './capabilities/packages.ts';
export type { Host, HostMembers } from './capabilities/plugin-host.ts';
export { CastError, type ConfigKey, castSetting } from './config/cast.ts';
export { ERRORS, type ErrorCode, errorEnvelope, Failure, Failures, fail } from './errors.ts';
export type { ActionHandler, EventMeta, FilterHandler } from './events.ts';
export { type ContributionTo, facet } from './facets.ts';
export { BootFailure } from './lifecycle/boot-failure.ts';
export type { PluginInfo } from './lifecycle/discover.ts';
export type { KernelCommand, Middleware, Upgrade } from './lifecycle/kernel-facets.ts';
export { afterCommitQueues, commands, middleware, upgrade } from './lifecycle/kernel-facets.ts';
export type { Log } from './log.ts';
export { findJsonSchemaProblems } from './manifest/schema-problems.ts';
export { API_VERSION, VERSION } from './manifest/validate.ts';
export { definePlugin } from './plugin.ts';
export { ClientGone, type RequestScope, requestScope } from './request-scope.ts';
export type { RequestState } from './request-state.ts';
export { service } from './services.ts';
