import { problems } from '#kernel';
import type { Subjects } from '../../broker/contract.ts';

/** What confined code may ask for (conventions, "Capabilities"). Everything else a plugin may have is not for strangers. */
const GRANTED = ['log', 'request', 'items', 'template', 'endpoint'] as const;

/** Valid, and without any effect yet. */
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

/** What is wrong with a `capabilities` block; it is strict. `at` names it in the sentences. */
export function capabilityProblems(
  declared: Capabilities,
  at: string,
  subjects: Pick<Subjects, 'problems'>,
): readonly string[] {
  const found: string[] = [];
  for (const [name, grant] of Object.entries(declared)) {
    if (Object.hasOwn(RESERVED, name)) {
      found.push(...problems(RESERVED[name as keyof typeof RESERVED], grant, `${at}/${name}`));
    } else if ((GRANTED as readonly string[]).includes(name)) {
      found.push(...subjects.problems({ [name]: grant }).map((one) => one.replace('/capabilities', at)));
    } else {
      found.push(`${at}/${name} is not a capability that confined code can be granted`);
    }
  }
  return found;
}

/** The grants of a valid block: without those that are reserved and those that say no. */
export const grantsOf = (declared: Capabilities = {}): Capabilities =>
  Object.fromEntries(
    Object.entries(declared).filter(([name, grant]) => !Object.hasOwn(RESERVED, name) && grant !== false),
  );
