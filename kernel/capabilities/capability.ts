import type { SchemaObject } from 'ajv';
import type { Caller } from '../context.ts';
import type { Facet } from '../facets.ts';
import { facet } from '../facets.ts';
import type { RemoteMethod } from './remote.ts';

/** Who holds a grant. */
export interface Subject {
  readonly name: string;
  readonly version: string;
  readonly runtime: 'internal' | 'confined' | 'full';
  /** For grants that let their holder act without a user's permissions. The ledger counts each time. */
  asSystem(reason: string): Caller;
}

/**
 * One definition serves host objects, remote tables and audit lines. Enforcement lives in `bind` and nowhere else: the
 * object it returns is smaller than the resource, never a flag somebody must remember to check.
 */
export interface Capability<Grant = unknown, Api = unknown> {
  readonly name: string;
  /** The member of `host` that holds the bound object; none for pure declarations such as `native`. */
  readonly member?: string;
  /** JSON schema of a grant in a manifest. */
  readonly schema: SchemaObject;
  bind(grant: Grant, subject: Subject): Api;
  /** What of the bound object confined code may call, from another process. */
  readonly remote?: Readonly<Record<string, RemoteMethod<Api>>>;
  /** Sentences for consent and audit. */
  describe(grant: Grant): readonly string[];
  /** Does `after` allow anything that `before` did not? */
  widens(before: Grant | undefined, after: Grant): boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: a table of capabilities with different grants
export type AnyCapability = Capability<any, any>;

/** Definitions by the plugins that own the resources; a contributor lists their names in its manifest. */
export const capabilities: Facet<AnyCapability, ReadonlyMap<string, AnyCapability>> = facet('capabilities', {
  combine: (all: readonly { value: AnyCapability }[]) => new Map(all.map(({ value }) => [value.name, value])),
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['names'],
    properties: { names: { type: 'array', items: { type: 'string' }, minItems: 1 } },
  },
  admit: (one: AnyCapability, declared: { names: string[] }) =>
    declared.names.includes(one.name) || `capability ${one.name} is not among the declared names`,
  describe: ({ names }: { names: string[] }) => [
    `defines the ${names.length === 1 ? 'capability' : 'capabilities'} ${names.join(', ')}`,
  ],
});

/** For grants made of lists: true when a list gained an entry. */
export function listsWiden(before: Record<string, unknown> | undefined, after: Record<string, unknown>): boolean {
  return Object.entries(after).some(([key, value]) => {
    const had = before?.[key];
    if (!Array.isArray(value)) return JSON.stringify(value) !== JSON.stringify(had) && value !== false;
    return value.some((entry) => !Array.isArray(had) || !had.includes(entry));
  });
}
