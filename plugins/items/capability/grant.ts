import { type Authority, authorities, type Capability, listsWiden } from '#kernel';

export const ITEMS_VERBS = ['read', 'create', 'update', 'delete'] as const;
export type ItemsVerb = (typeof ITEMS_VERBS)[number];

interface ItemsGrantObject {
  readonly accountability: 'user' | 'full-access';
  /** Only these collections, also through relations. Omitted: all. */
  readonly collections?: readonly string[];
  /** Omitted: all. */
  readonly actions?: readonly ItemsVerb[];
}

/** The grant as a manifest has it. The texts are older names of the two objects (conventions, "Capabilities"). */
export type ItemsGrant = ItemsGrantObject | 'current-user' | 'system';

const ALIASES = {
  'current-user': { accountability: 'user' },
  system: { accountability: 'full-access' },
} as const satisfies Record<string, ItemsGrantObject>;

export const grantAccountabilitySchema = { enum: ['user', 'full-access'] } as const;

export const itemsGrantSchema: Capability['schema'] = {
  if: { type: 'string' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
  then: { enum: Object.keys(ALIASES) },
  else: {
    type: 'object',
    additionalProperties: false,
    required: ['accountability'],
    properties: {
      accountability: grantAccountabilitySchema,
      collections: {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        // Administrators read these names when they consent, so they have no control characters.
        items: { type: 'string', minLength: 1, maxLength: 255, pattern: '^\\P{C}+$' },
      },
      actions: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: ITEMS_VERBS } },
    },
  },
};

export const normalizeItemsGrant = (grant: ItemsGrant): ItemsGrantObject =>
  typeof grant === 'string' ? ALIASES[grant] : grant;

/** For the audit: whose permissions apply to the reads and writes of a package. */
export const GRANT_ACCOUNTABILITY_TEXTS = {
  user: 'as the calling user',
  'full-access': 'without permissions (full access)',
} as const;

const VERB_TEXTS = { read: 'reads', create: 'creates', update: 'updates', delete: 'deletes' } as const;

export function describeItemsGrant(grant: ItemsGrant): readonly Authority[] {
  const { accountability, collections, actions = ITEMS_VERBS } = normalizeItemsGrant(grant);
  const objects = collections ? [...collections].sort().map((name) => `items of ${name}`) : ['items'];
  return ITEMS_VERBS.filter((verb) => actions.includes(verb)).flatMap((verb) =>
    authorities(VERB_TEXTS[verb], objects, GRANT_ACCOUNTABILITY_TEXTS[accountability]),
  );
}

/**
 * Whether `after` permits more than `before`. Full access is more than the user's permissions, and a grant without a
 * list of collections is more than any list.
 */
export function widensItemsGrant(before: ItemsGrant | undefined, after: ItemsGrant): boolean {
  if (before === undefined) return true;
  const [grantBefore, grantAfter] = [normalizeItemsGrant(before), normalizeItemsGrant(after)];
  if (grantAfter.accountability === 'full-access' && grantBefore.accountability === 'user') return true;
  if (grantBefore.collections && !grantAfter.collections) return true;
  const { collections: known } = grantBefore;
  return (
    (known !== undefined && listsWiden({ known }, { known: grantAfter.collections })) ||
    listsWiden({ verbs: grantBefore.actions ?? ITEMS_VERBS }, { verbs: grantAfter.actions ?? ITEMS_VERBS })
  );
}
