import type { SchemaObject } from 'ajv';
import type { Caller } from '../caller.ts';
import { type Facet, facet } from '../facets.ts';
import { closedObjectSchema, nonEmptyListSchema } from '../manifest/schema.ts';

/** One thing a plugin may do: `{ verb: 'reads', object: 'platform_users' }`. `detail` says when, how or why. */
export interface Authority {
  /** One of a fixed vocabulary, which belongs to the plugin that renders the audit. */
  readonly verb: string;
  /** A table, path, event, setting, service, …; empty where the verb says it all. */
  readonly object: string;
  readonly detail?: string;
}

/** Builds one authority per object, all with the same verb and detail. */
export const authorities = (verb: string, objects: readonly string[] = [], detail?: string): readonly Authority[] =>
  objects.map((object) => (detail === undefined ? { verb, object } : { verb, object, detail }));

/** `internal`: a core plugin; `confined`: in another process, behind the sandbox; `full`: third-party code in this one. */
export type PluginRuntime = 'internal' | 'confined' | 'full';

/** The plugin or package that holds a grant. */
export interface GrantHolder {
  readonly name: string;
  readonly version: string;
  readonly runtime: PluginRuntime;
  /** True for a plugin with a `host`; false for a package that another plugin runs. */
  readonly isPlugin: boolean;
  /** Returns a caller to which no user's permissions apply, for grants that allow this. The ledger counts each call. */
  asSystem(reason: string): Caller;
  /** Copies a caller so that the activity log names this plugin or package as the code that acted. */
  attribute(caller: Caller): Caller;
  /** Counts a denied call of a capability in the ledger. */
  recordDenial(what: string): void;
}

/** A kind of authority that manifests request. The object that `bind` returns offers only what the grant allows. */
export interface Capability<Grant = unknown, Api = unknown> {
  readonly name: string;
  /** The member of `host` that holds the bound object; none for pure declarations such as `native`. */
  readonly member?: string;
  /** JSON schema of a grant in a manifest. */
  readonly schema: SchemaObject;
  /** Third-party packages cannot hold it, even with the consent of an admin. */
  readonly coreOnly?: true;
  bind(grant: Grant, subject: GrantHolder): Api;
  /** What a grant allows, for consent and audit. */
  describe(grant: Grant): readonly Authority[];
  /** Whether `after` allows anything that `before` does not; undefined is no grant. */
  widens(before: Grant | undefined, after: Grant): boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: a table of capabilities with different grants
export type AnyCapability = Capability<any, any>;

/** Facet of capability definitions. The plugin that owns the resource contributes them, and lists their names in its manifest. */
export const capabilities: Facet<AnyCapability, ReadonlyMap<string, AnyCapability>> = facet('capabilities', {
  combine: (all: readonly { value: AnyCapability }[]) => new Map(all.map(({ value }) => [value.name, value])),
  manifest: closedObjectSchema({ names: nonEmptyListSchema({ type: 'string' }) }),
  validate: (one: AnyCapability, declared: { names: string[] }) =>
    declared.names.includes(one.name) || `capability ${one.name} is not among the declared names`,
  describe: ({ names }: { names: string[] }) => names.flatMap((name) => authorities('defines', [`capability ${name}`])),
});

/** `widens` for grants made of lists: true where a list gained an entry. */
export function listsWiden(before: object | undefined, after: object): boolean {
  return Object.entries(after).some(([key, value]) => {
    const had: unknown = before?.[key as never];
    if (!Array.isArray(value)) return JSON.stringify(value) !== JSON.stringify(had) && value !== false;
    return value.some((entry) => !Array.isArray(had) || !had.includes(entry));
  });
}
