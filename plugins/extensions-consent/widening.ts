import type { Authority } from '#kernel';
import type { Subjects } from '../broker/contract.ts';
import { renderAuthorities } from '../broker/library.ts';
import type { RequestedGrants } from './requested-grants.ts';

type GrantComparer = Pick<Subjects, 'widens' | 'describe'>;

const STATEFUL = 'keeps state between those who call it';
const BROWSER = 'runs in the admin app, as whoever is signed in there';
const IN_PROCESS = 'runs in this process with full authority: what its manifest declares does not confine it';

/** Sentences of all that is asked for. */
export function describeRequest(asked: RequestedGrants, subjects: GrantComparer): readonly string[] {
  return describeAdded({ entries: {}, stateful: false }, asked, subjects, () => true);
}

/** Sentences of what is asked for now and was not before; empty where nothing is added. */
export function describeWidening(
  before: RequestedGrants,
  after: RequestedGrants,
  subjects: GrantComparer,
): readonly string[] {
  return describeAdded(before, after, subjects, (had, wants) => subjects.widens(had, wants));
}

type Grants = Readonly<Record<string, unknown>>;

function describeAdded(
  before: RequestedGrants,
  after: RequestedGrants,
  subjects: GrantComparer,
  isAdded: (had: Grants, wants: Grants) => boolean,
): readonly string[] {
  // There is no more than everything.
  if (before.full || (before.plugin && !after.plugin)) return [];
  const found: string[] = after.plugin ? [...describeAddedToPlugin(before.plugin, after.plugin)] : [];
  if (after.full) found.push(...subjects.describe({ full: true }));
  if (after.browser && !before.browser) found.push(BROWSER);
  for (const [key, grants] of Object.entries(after.entries)) {
    const had: Grants = (Object.hasOwn(before.entries, key) && before.entries[key]) || {};
    const known = new Set(subjects.describe(had));
    for (const [capability, grant] of Object.entries(grants)) {
      const wants = { [capability]: grant };
      const hadOfIt = Object.hasOwn(had, capability) ? { [capability]: had[capability] } : {};
      if (!isAdded(hadOfIt, wants)) continue;
      const all = subjects.describe(wants);
      const fresh = all.filter((sentence) => !known.has(sentence));
      const shown = fresh.length > 0 ? fresh : all.length > 0 ? all : [`asks for more of ${capability}`];
      found.push(...shown.map((sentence) => (key === '' ? sentence : `${key}: ${sentence}`)));
    }
  }
  if (after.stateful && !before.stateful) found.push(STATEFUL);
  return found;
}

/** By authorities and not by sentences: one sentence names several objects. */
function describeAddedToPlugin(
  before: readonly Authority[] | undefined,
  after: readonly Authority[],
): readonly string[] {
  const keyOf = ({ verb, object, detail }: Authority) => JSON.stringify([verb, object, detail]);
  const had = new Set(before?.map(keyOf));
  const fresh = renderAuthorities(after.filter((one) => !had.has(keyOf(one))));
  return before ? fresh : [IN_PROCESS, ...fresh];
}
