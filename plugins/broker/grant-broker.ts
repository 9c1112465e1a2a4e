import {
  type AuditLine,
  type Authority,
  activeGrants,
  describeGrants,
  type ErrorCode,
  Failure,
  Failures,
  fail,
  findJsonSchemaProblems,
  type GrantHolder,
  isCaller,
  type PackagesApi,
} from '#kernel';
import type {
  BrokerRefusalCode,
  PackageGrantBroker,
  PackageHandle,
  PackageWithGrants,
  RemoteCapabilityMethods,
} from './contract.ts';
import { createEnvironmentRedactor } from './environment-redactor.ts';
import { BrokerRefusal, renderAuthorities, withAuditSentences } from './library.ts';

interface Parts {
  readonly packages: PackagesApi;
  readonly remotes: () => ReadonlyMap<string, RemoteCapabilityMethods['methods']>;
}

/** Registers the packages that other plugins run, and checks every call of a package against its grants. */
export class GrantBroker implements PackageGrantBroker {
  readonly #registered = new Set<{ readonly sketch: PackageWithGrants }>();
  readonly #packages: PackagesApi;
  readonly #remotes: Parts['remotes'];
  #redact: ((text: string) => string) | undefined;

  constructor({ packages, remotes }: Parts) {
    this.#packages = packages;
    this.#remotes = remotes;
  }

  /** Lines for the audit: what each package adds and may do. */
  auditLines(): readonly AuditLine[] {
    return [...this.#registered].map(({ sketch: { name, version, runtime, authorities = [], grants } }) => ({
      name,
      version,
      runtime,
      authorities: [...authorities, ...this.#describe(grants)],
    }));
  }

  #describe(grants: PackageWithGrants['grants']): readonly Authority[] {
    return describeGrants(activeGrants(grants), this.#packages.capabilities());
  }

  register(sketch: PackageWithGrants): PackageHandle {
    const packages = this.#packages;
    const { capabilities, record } = packages;
    const { name, version, runtime } = sketch;
    const grants = new Map(activeGrants(sketch.grants));
    const entry = { sketch };
    this.#registered.add(entry);
    const who = `${name}@${version}`;
    const holder: GrantHolder = {
      name,
      version,
      runtime,
      isPlugin: false,
      asSystem: (reason) => packages.asSystem(who, reason),
      attribute: (caller) => packages.attribute(caller, who),
      recordDenial: (what) => record('denied', name, what),
    };
    const bound = new Map<string, unknown>();
    const get = (capability: string): unknown => {
      const definition = capabilities().get(capability);
      if (!definition || !grants.has(capability)) {
        record('denied', name, `${capability}: not granted`);
        throw fail('CAPABILITY_DENIED', `${name} may not use ${capability}: its manifest does not grant it`);
      }
      if (!bound.has(capability)) bound.set(capability, definition.bind(grants.get(capability), holder));
      return bound.get(capability);
    };
    const methodOf = (text: string) => {
      const [capability = '', method = ''] = text.split('.', 2);
      const remote = this.#remotes().get(capability);
      return remote && Object.hasOwn(remote, method) ? { capability, method: remote[method] } : undefined;
    };
    return {
      holder,
      get: get as PackageHandle['get'],
      maxReply: (method) => methodOf(method)?.method?.maxReply,
      recordDenial: holder.recordDenial,
      async call(text, args, invocation) {
        const found = methodOf(text);
        if (!found?.method) throw new BrokerRefusal('unsupported', 'The host has no such method.');
        const { capability, method } = found;
        if (!grants.has(capability)) {
          record('denied', name, `${text}: not granted`);
          throw new BrokerRefusal('denied', `The capability "${capability}" is not granted.`);
        }
        if (invocation.caller !== null && !isCaller(invocation.caller)) {
          record('denied', name, `${text}: a caller that the kernel did not mint`);
          throw new BrokerRefusal('denied', 'Not allowed.');
        }
        const wrong = findJsonSchemaProblems(method.args, args);
        if (wrong.length > 0) throw new BrokerRefusal('invalid_request', `The arguments do not fit: ${wrong[0]}.`);
        const list = args as unknown[];
        const target = method.target?.(...list);
        const what = target === undefined ? text : `${text} ${target.slice(0, 200)}`;
        try {
          const value = await method.call(get(capability), invocation, ...list);
          record('remote', name, what);
          return value;
        } catch (error) {
          const refusal = asRefusal(error);
          record(refusal.code === 'denied' ? 'denied' : 'remote', name, what);
          throw refusal;
        }
      },
      remove: () => {
        this.#registered.delete(entry);
        // Names are not unique: listeners stay while another package has this name.
        if (![...this.#registered].some(({ sketch }) => sketch.name === name)) packages.removeListeners(name);
      },
    };
  }

  findProblems(grants: Readonly<Record<string, unknown>>): readonly string[] {
    return Object.entries(grants).flatMap(([name, grant]) => {
      const definition = this.#packages.capabilities().get(name);
      if (!definition) return [`/capabilities/${name} is not a known capability`];
      if (definition.coreOnly) return [`/capabilities/${name} is open to core plugins only`];
      return findJsonSchemaProblems(definition.schema, grant, `/capabilities/${name}`);
    });
  }

  describe(grants: Readonly<Record<string, unknown>>): readonly string[] {
    return renderAuthorities(this.#describe(grants));
  }

  widens(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): boolean {
    return activeGrants(after).some(([name, grant]) => {
      const had = before[name] === false ? undefined : before[name];
      return this.#packages.capabilities().get(name)?.widens(had, grant) ?? true;
    });
  }

  account(): ReturnType<PackageGrantBroker['account']> {
    return { may: withAuditSentences(this.#packages.auditLines()), did: this.#packages.ledgerEntries() };
  }

  redact(text: string): string {
    this.#redact ??= createEnvironmentRedactor(this.#packages.settings().source);
    return this.#redact(text);
  }
}

const CODES: Partial<Record<ErrorCode, BrokerRefusalCode>> = {
  FORBIDDEN: 'denied',
  CAPABILITY_DENIED: 'denied',
  INVALID_PAYLOAD: 'invalid_request',
  INVALID_QUERY: 'invalid_request',
  FAILED_VALIDATION: 'invalid_request',
};

/** An unexpected error becomes `internal`: confined code sees neither its text nor its name. */
function asRefusal(error: unknown): BrokerRefusal {
  if (error instanceof BrokerRefusal) return error;
  const failure = error instanceof Failures ? error.failures[0] : error;
  const code = (failure instanceof Failure ? CODES[failure.code] : undefined) ?? 'internal';
  // The cause is for the log of the plugin that made the call.
  if (code === 'internal') return Object.assign(new BrokerRefusal('internal', 'The call failed.'), { cause: error });
  return new BrokerRefusal(code, code === 'denied' ? 'Not allowed.' : (failure as Failure).message);
}
