import { authorities, type Caller, facet } from '#kernel';

/**
 * One method of a service. It receives the caller first: that of the `accountability` with which the extension made the service, or the
 * system without one. `args` come from the extension as they are, and `options` are those of the constructor, such as the `scope` of
 * `GraphQLService`.
 */
export type ServiceMethod = (
  caller: Caller,
  args: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

/** A class in the member `services` of the context of code with full authority (conventions, "Server entry points"). */
export interface ServiceClass {
  /** Such as `MailService`. Several contributions with one name are one class with the methods of all. */
  readonly name: string;
  /** By name; `oas.generate` is the method `generate` of the member `oas`. */
  readonly methods: Readonly<Record<string, ServiceMethod>>;
}

/**
 * Service classes of plugins. Plugins of lower floors name this facet by its id, with `"extensions.services": { "optional": true }` in their
 * manifests: `host.contribute<ServiceClass>('extensions.services', …)`.
 */
export const serviceClasses = facet<ServiceClass>('extensions.services', {
  coreOnly: true,
  describe: () => authorities('contributes to', ['the services of code with full authority']),
});

/** Exit code of the command `extensions:run` where no package has the command that is asked for, as shells have it. */
export const COMMAND_NOT_FOUND = 127;
