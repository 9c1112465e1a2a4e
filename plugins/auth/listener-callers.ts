import { isDeepStrictEqual } from 'node:util';
import type { Caller, EventsApi, IdentityApi } from '#kernel';
import { parseAccountability } from './accountability.ts';
import type { AuthClientInfo } from './contract.ts';

/** The events by which a listener says who a client is (conventions, "Other filter events"). */
export type AuthenticationEvent = 'authenticate' | 'websocket.authenticate';

interface Deps {
  readonly identity: Pick<IdentityApi, 'mint'>;
  readonly events: Pick<EventsApi, 'filter' | 'hasListeners'>;
  ofPublic(client: AuthClientInfo): Promise<Caller>;
}

/**
 * The caller that a listener of the event names; undefined where there is no listener, or the answer is the accountability of the public that
 * it received. `about` is what listeners learn besides.
 * @throws INTERNAL_SERVER_ERROR for an answer that is no accountability, and what listeners throw
 */
export type FindCallerOfListeners = (
  event: AuthenticationEvent,
  client: AuthClientInfo,
  about: () => Readonly<Record<string, unknown>>,
) => Promise<Caller | undefined>;

export function createCallersOfListeners({ identity, events, ofPublic }: Deps): FindCallerOfListeners {
  return async (event, client, about) => {
    if (!events.hasListeners('filter', event)) return undefined;
    const { ip = null, userAgent = null, origin = null } = client;
    const before = { user: null, role: null, admin: false, app: false, ip, userAgent, origin };
    const caller = await ofPublic(client);
    const answer = await events.filter([event], { ...before }, { caller, ...about() });
    if (isDeepStrictEqual(answer, before)) return undefined;
    return identity.mint('accountability', { ...client, ...parseAccountability(answer, event) });
  };
}
