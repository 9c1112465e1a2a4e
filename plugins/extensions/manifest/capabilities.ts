import { findJsonSchemaProblems } from '#kernel';
import type { PackageGrantBroker } from '../../broker/contract.ts';

/** Capabilities that confined code may request (conventions, "Capabilities"; `mail` is our own). All others are for plugins. */
const GRANTABLE = ['log', 'request', 'items', 'template', 'mail', 'endpoint'] as const;

/** Capabilities that are valid in a manifest and have no effect yet. */
const RESERVED = {
  files: {
    type: 'object',
    additionalProperties: false,
    required: ['accountability'],
    properties: { accountability: { enum: ['user', 'full-access'] } },
  },
  schema: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: ['read', 'write'] } },
} as const;

type Capabilities = Readonly<Record<string, unknown>>;

/** Problems of a `capabilities` block; unknown keys are problems. `at` is its JSON pointer in the sentences. */
export function capabilityProblems(
  declared: Capabilities,
  at: string,
  subjects: Pick<PackageGrantBroker, 'findProblems'>,
): readonly string[] {
  const found: string[] = [];
  for (const [name, grant] of Object.entries(declared)) {
    if (Object.hasOwn(RESERVED, name)) {
      found.push(...findJsonSchemaProblems(RESERVED[name as keyof typeof RESERVED], grant, `${at}/${name}`));
    } else if ((GRANTABLE as readonly string[]).includes(name)) {
      const wrong = subjects.findProblems({ [name]: grant }).map((one) => one.replace('/capabilities', at));
      found.push(...wrong, ...(name === 'request' && wrong.length === 0 ? originProblems(grant, `${at}/request`) : []));
    } else {
      found.push(`${at}/${name} is not a capability that confined code can be granted`);
    }
  }
  return found;
}

/** Origins that match the pattern and are not valid addresses: a port of 99999, an IPv4 address of 999.1.1.1. */
const originProblems = (grant: unknown, at: string): readonly string[] =>
  Object.entries(grant as Readonly<Record<string, readonly string[]>>).flatMap(([key, list]) =>
    key === 'origins' || key === 'urls'
      ? list.flatMap((text, index) => (URL.canParse(text) ? [] : [`${at}/${key}/${index} "${text}" is no address`]))
      : [],
  );

/** The effective grants of a valid block: without reserved ones and without those that are `false`. */
export const selectEffectiveGrants = (declared: Capabilities = {}): Capabilities =>
  Object.fromEntries(
    Object.entries(declared).filter(([name, grant]) => !Object.hasOwn(RESERVED, name) && grant !== false),
  );
