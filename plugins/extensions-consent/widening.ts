import type { Authority } from '#kernel';
import type { PackageGrantBroker } from '../broker/contract.ts';
import { renderAuthorities } from '../broker/library.ts';
import type { RequestedGrants } from './requested-grants.ts';

type GrantComparer = Pick<PackageGrantBroker, 'widens' | 'describe'>;

const STATEFUL = 'keeps state between its callers';
const BROWSER = 'runs in the admin app, with the rights of the signed-in user';
const IN_PROCESS = 'runs in this process with full authority: what its manifest declares does not confine it';

/** Sentences of all that a package requests. */
export function describeRequestedGrants(requested: RequestedGrants, subjects: GrantComparer): readonly string[] {
  return describeAdded({ entries: {}, stateful: false }, requested, subjects, () => true);
}

/** Sentences of what `after` requests beyond `before`; empty if it requests nothing more. */
export function describeWidenedGrants(
  before: RequestedGrants,
  after: RequestedGrants,
  subjects: GrantComparer,
): readonly string[] {
  return describeAdded(before, after, subjects, (had, wants) => subjects.widens(had, wants));
}

type Grants = Readonly<Record<string, unknown>>;

const isEmptyGrant = (grant: unknown): boolean =>
  typeof grant === 'object' && grant !== null && Object.keys(grant).length === 0;

function describeAdded(
  before: RequestedGrants,
  after: RequestedGrants,
  subjects: GrantComparer,
  isAdded: (had: Grants, wants: Grants) => boolean,
): readonly string[] {
  // A package with full authority cannot request more.
  if (before.full || (before.plugin && !after.plugin)) return [];
  const found: string[] = after.plugin ? [...describeAddedToPlugin(before.plugin, after.plugin)] : [];
  if (after.full) found.push(...subjects.describe({ full: true }));
  if (after.browser && !before.browser) found.push(BROWSER);
  for (const [key, grants] of Object.entries(after.entries)) {
    const had: Grants = (Object.hasOwn(before.entries, key) && before.entries[key]) || {};
    const known = new Set(subjects.describe(had));
    for (const [capability, grant] of Object.entries(grants)) {
      const wants = { [capability]: grant };
      const hadOfCapability = Object.hasOwn(had, capability) ? { [capability]: had[capability] } : {};
      if (!isAdded(hadOfCapability, wants)) continue;
      const all = subjects.describe(wants);
      // Settings stand among the grants of every package, also of one that declares none.
      if (all.length === 0 && isEmptyGrant(grant)) continue;
      const fresh = all.filter((sentence) => !known.has(sentence));
      const shown = fresh.length > 0 ? fresh : all.length > 0 ? all : [`asks for more of ${capability}`];
      found.push(...shown.map((sentence) => (key === '' ? sentence : `${key}: ${sentence}`)));
    }
  }
  if (after.stateful && !before.stateful) found.push(STATEFUL);
  return found;
}

/** Compares authorities rather than sentences, because one sentence names several objects. */
function describeAddedToPlugin(
  before: readonly Authority[] | undefined,
  after: readonly Authority[],
): readonly string[] {
  const keyOf = ({ verb, object, detail }: Authority) => JSON.stringify([verb, object, detail]);
  const had = new Set(before?.map(keyOf));
  const fresh = renderAuthorities(after.filter((one) => !had.has(keyOf(one))));
  return before ? fresh : [IN_PROCESS, ...fresh];
}
