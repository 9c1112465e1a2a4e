import { type Authority, authorities, type Capability, listsWiden } from '#kernel';

export const VERBS = ['read', 'create', 'update', 'delete'] as const;
export type Verb = (typeof VERBS)[number];

interface ItemsGrantObject {
  readonly accountability: 'user' | 'full-access';
  /** Nothing but these, nor through a relation. All where it is left out. */
  readonly collections?: readonly string[];
  /** All where it is left out. */
  readonly actions?: readonly Verb[];
}

/** As it stands in a manifest. The texts are older names of the two forms (conventions, "Capabilities"). */
export type ItemsGrant = ItemsGrantObject | 'current-user' | 'system';

const ALIASES = {
  'current-user': { accountability: 'user' },
  system: { accountability: 'full-access' },
} as const satisfies Record<string, ItemsGrantObject>;

export const accountabilitySchema = { enum: ['user', 'full-access'] } as const;

export const itemsGrantSchema: Capability['schema'] = {
  if: { type: 'string' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
  then: { enum: Object.keys(ALIASES) },
  else: {
    type: 'object',
    additionalProperties: false,
    required: ['accountability'],
    properties: {
      accountability: accountabilitySchema,
      collections: {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        // They stand in what an administrator is asked.
        items: { type: 'string', minLength: 1, maxLength: 255, pattern: '^\\P{C}+$' },
      },
      actions: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: VERBS } },
    },
  },
};

export const grantOf = (grant: ItemsGrant): ItemsGrantObject => (typeof grant === 'string' ? ALIASES[grant] : grant);

/** Whose rights, in words. */
export const WHOSE = {
  user: 'as the calling user',
  'full-access': 'without permissions (full access)',
} as const;

const DOES = { read: 'reads', create: 'creates', update: 'updates', delete: 'deletes' } as const;

export function describeItems(grant: ItemsGrant): readonly Authority[] {
  const { accountability, collections, actions = VERBS } = grantOf(grant);
  const objects = collections ? [...collections].sort().map((name) => `items of ${name}`) : ['items'];
  return VERBS.filter((verb) => actions.includes(verb)).flatMap((verb) =>
    authorities(DOES[verb], objects, WHOSE[accountability]),
  );
}

/** To act with full access is more than to act as the user; no list is more than any. */
export function itemsWiden(before: ItemsGrant | undefined, after: ItemsGrant): boolean {
  if (before === undefined) return true;
  const [had, has] = [grantOf(before), grantOf(after)];
  if (has.accountability === 'full-access' && had.accountability === 'user') return true;
  if (had.collections && !has.collections) return true;
  const { collections: known } = had;
  return (
    (known !== undefined && listsWiden({ known }, { known: has.collections })) ||
    listsWiden({ verbs: had.actions ?? VERBS }, { verbs: has.actions ?? VERBS })
  );
}
