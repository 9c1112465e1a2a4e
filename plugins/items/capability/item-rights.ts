import { type Caller, fail, type GrantHolder, isSystem } from '#kernel';
import type { ConfinedCodeInvocation } from '../../broker/contract.ts';
import { BrokerRefusal } from '../../broker/library.ts';
import { SYSTEM_COLLECTION_PREFIX } from '../../schema/contract.ts';
import { ITEMS_VERBS, type ItemsGrant, type ItemsVerb, normalizeItemsGrant } from './grant.ts';

/** What one package may do with items, and for which caller. */
export interface PackageItemRights {
  /** Collections that the package may use; undefined for all. */
  readonly collections: ReadonlySet<string> | undefined;
  /** Answers missing collections and those not granted alike. @throws FORBIDDEN */
  assertGranted(name: string, verb: ItemsVerb): void;
  /** @throws Refusal `denied` where the invocation has no user to act for. */
  callerOf(invocation: ConfinedCodeInvocation): Caller;
  /** Like `callerOf`, but history names the package as the writer, also where it acts for a user. */
  writingCallerOf(invocation: ConfinedCodeInvocation): Caller;
}

export function createPackageItemRights(grant: ItemsGrant, subject: GrantHolder): PackageItemRights {
  const { accountability, collections: names, actions = ITEMS_VERBS } = normalizeItemsGrant(grant);
  const collections = names && new Set(names);
  const owner = `${subject.name}@${subject.version}`;
  const hasFullAccess = accountability === 'full-access';

  function callerOf({ caller }: ConfinedCodeInvocation): Caller {
    if (hasFullAccess) return subject.asSystem('confined code with full access');
    // An invocation by the service itself has no user; the package must not use the service's rights.
    if (caller === null || isSystem(caller) || caller.reason !== undefined || (caller.admin && caller.user === null))
      throw new BrokerRefusal('denied', 'There is no user to act for.');
    return caller;
  }

  return {
    collections,
    assertGranted(name, verb) {
      if (
        !actions.includes(verb) ||
        name.startsWith(SYSTEM_COLLECTION_PREFIX) ||
        (collections && !collections.has(name))
      )
        throw fail('FORBIDDEN', `${owner} may not ${verb} items of ${name}`);
    },
    callerOf,
    writingCallerOf(invocation) {
      const caller = callerOf(invocation);
      return hasFullAccess ? caller : subject.attribute(caller);
    },
  };
}
