import { LoadFailure } from '../extensions/library.ts';
import type { ConfinedContribution } from './gate/contributions.ts';

/** A route without pattern characters (conventions, "Mounting, order, collisions"). */
const SAFE_ROUTE = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9_][a-z0-9._-]*$/;
const EVENT = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/;
const MAX_EVENTS = 16;

/**
 * Checks a contribution beyond the manifest's schema, before it is registered.
 * @throws LoadFailure CAPABILITY_MISSING, ROUTE_INVALID or EVENT_INVALID.
 */
export function assertValidConfinedContribution({ type, id, capabilities, events }: ConfinedContribution): void {
  if (type === 'endpoint') {
    if (capabilities.endpoint === undefined) {
      throw new LoadFailure('CAPABILITY_MISSING', `The endpoint "${id}" does not say who may call it.`);
    }
    if (!SAFE_ROUTE.test(id) || id.length > 200) {
      throw new LoadFailure('ROUTE_INVALID', `"${id.slice(0, 80)}" cannot be the path of an endpoint.`);
    }
  }
  if (type === 'hook') {
    const all = [events.filter, events.action].filter((names) => names !== undefined);
    if (all.length === 0) throw new LoadFailure('EVENT_INVALID', `The hook "${id}" declares no event.`);
    for (const names of all) {
      if (names.length === 0 || names.length > MAX_EVENTS || new Set(names).size < names.length) {
        throw new LoadFailure(
          'EVENT_INVALID',
          `A list of events of the hook "${id}" is empty, too long or repeats a name.`,
        );
      }
      for (const event of names) assertEventName(event);
    }
    const authEvent = events.filter?.find(
      (event) => event.split('.').at(-1) === 'authenticate' || event.split('.')[0] === 'auth',
    );
    if (authEvent !== undefined) {
      throw new LoadFailure(
        'EVENT_INVALID',
        `A confined hook cannot filter "${authEvent}": confined code does not decide about sign-ins.`,
      );
    }
  }
}

/** Conventions, "events": segments that are members of every object (`constructor`) are refused. */
function assertEventName(event: string): void {
  const isUnsafe = (segment: string) => segment === '' || segment === '_listeners' || segment in Object.prototype;
  if (EVENT.test(event) && !event.split('.').some(isUnsafe)) return;
  throw new LoadFailure(
    'EVENT_INVALID',
    `"${event.replace(/[^\w.:*-]/g, '?').slice(0, 80)}" is not the exact name of an event.`,
  );
}
