import type { Caller } from '#kernel';
import type { ServiceClass, ServiceMethod } from '../contract.ts';
import type { BaseServiceClass, ExtensionServiceOptions } from './base-service.ts';

/** Classes that authors may look for, and why there is none. */
const ABSENT: Readonly<Record<string, string>> = {
  AccessService: 'permissions belong to roles: use PermissionsService',
  PayloadService: 'ItemsService converts values itself',
  PoliciesService: 'permissions belong to roles: use PermissionsService',
  VersionsService: 'there are no content versions',
  WebSocketService: 'clients are notified of changed rows by the service itself (WEBSOCKETS_ENABLED)',
};

type ServiceConstructor = new (options?: ExtensionServiceOptions) => object;

/** The classes that plugins contribute, and classes that say on construction why they do nothing. */
export function createContributedServices(
  Acting: BaseServiceClass,
  contributions: readonly ServiceClass[],
): Readonly<Record<string, ServiceConstructor>> {
  const byName = Map.groupBy(contributions, ({ name }) => name);
  const present = [...byName].map(([name, parts]) => {
    const methods = Object.assign({}, ...parts.map((one) => one.methods)) as ServiceClass['methods'];
    return [name, createServiceClass(Acting, name, methods)] as const;
  });
  const absent = Object.entries(ABSENT)
    .filter(([name]) => !byName.has(name))
    .map(([name, why]) => [name, createAbsentClass(name, why)] as const);
  return Object.fromEntries([...present, ...absent]);
}

function createServiceClass(
  Acting: BaseServiceClass,
  name: string,
  methods: ServiceClass['methods'],
): ServiceConstructor {
  const service = class extends Acting {
    constructor(options: ExtensionServiceOptions = {}) {
      super(options);
      const own = { ...options };
      for (const [path, method] of Object.entries(methods)) this.#add(path.split('.'), method, own);
    }

    #add(
      [first = '', second]: readonly string[],
      method: ServiceMethod,
      options: Readonly<Record<string, unknown>>,
    ): void {
      const call = (...args: unknown[]) => this.act((caller: Caller) => method(caller, args, options));
      const self = this as unknown as Record<string, unknown>;
      self[first] = second === undefined ? call : { ...(self[first] as object | undefined), [second]: call };
    }
  };
  return Object.defineProperty(service, 'name', { value: name });
}

function createAbsentClass(name: string, why: string): ServiceConstructor {
  const service = class {
    constructor() {
      throw new Error(`There is no ${name}: ${why}.`);
    }
  };
  return Object.defineProperty(service, 'name', { value: name });
}
