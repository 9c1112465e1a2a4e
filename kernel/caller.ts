import { fail } from './errors.ts';

/** Who a caller is. `user`, `role`, `share` (the shared link of the request) are ids; null where there is none. */
export interface CallerFields {
  readonly user: string | null;
  readonly role: string | null;
  readonly admin: boolean;
  readonly app: boolean;
  readonly share?: string | null;
  readonly ip?: string | null;
  readonly userAgent?: string | null;
  readonly origin?: string | null;
}
export type CallerClient = Pick<CallerFields, 'ip' | 'userAgent' | 'origin'>;

interface Attribution {
  /** Set on system callers only: why no user's permissions apply. */
  readonly reason?: string;
  /** The plugin or package whose code acts, as `name@version`: without a user, or on behalf of one. */
  readonly owner?: string;
}

/**
 * On whose behalf something happens (the field says "accountability"). Immutable. Only the kernel creates callers: for plugins that
 * hold `identity`, and by `host.asSystem(reason)`. Any other object in place of a caller is refused with CAPABILITY_DENIED.
 */
export type Caller = MintedCaller & CallerFields & Attribution;

/** The ledgers of this process: they count each attempt to forge or assign a caller. */
export const callerForgeryLedgers = new Set<{ deny(capability: string, plugin: string, what: string): Error }>();

/** Creates CAPABILITY_DENIED for a forged caller where the running plugin is unknown, and counts it in every ledger. */
export function createCallerForgeryError(what: string): Error {
  for (const ledger of callerForgeryLedgers) ledger.deny('identity', 'unknown code', what);
  return fail('CAPABILITY_DENIED', `no code may ${what}`);
}

/** Known to this module only: code that holds a caller reaches its constructor, which throws without this symbol. */
const MINT = Symbol('mint');
const MEMBERS = ['user', 'role', 'admin', 'app', 'share', 'ip', 'userAgent', 'origin', 'reason', 'owner'] as const;

class MintedCaller {
  readonly #system: boolean;

  constructor(mint: typeof MINT, members: CallerFields & Attribution, system: boolean) {
    if (mint !== MINT) throw createCallerForgeryError('construct a caller, which only the kernel mints');
    // Absent members stay absent, so that printing and comparing show only the members it was minted with.
    for (const name of MEMBERS) {
      if (members[name] !== undefined) (this as Record<string, unknown>)[name] = members[name];
    }
    this.#system = system;
    Object.freeze(this);
  }

  /** Undefined for a value that the kernel did not mint. */
  static systemOf(value: unknown): boolean | undefined {
    return typeof value === 'object' && value !== null && #system in value ? value.#system : undefined;
  }
}

const mint = (fields: CallerFields, { reason, owner }: Attribution = {}, system = false): Caller =>
  new MintedCaller(MINT, { ...fields, reason, owner }, system) as Caller;

/** Creates a caller with these fields, for the capability `identity` and for tests. All other code receives its callers. */
export const mintCaller = (fields: CallerFields, owner?: string): Caller => mint(fields, { owner });

/** Creates the caller of requests without a token (specification, "Authentication", 6), under the Public role. */
export const mintPublicCaller = (from: CallerClient = {}): Caller =>
  mint({ ...from, user: null, role: null, admin: false, app: false });

/** Creates a caller to which no user's permissions apply, for the capability `system` and the kernel's own events. */
export const mintSystemCaller = (owner: string, reason: string, { ip, userAgent, origin }: CallerClient = {}): Caller =>
  mint({ ip, userAgent, origin, user: null, role: null, admin: true, app: true }, { owner, reason }, true);

/** Copies a caller so that the activity log names `owner` as the code that acted. */
export const copyCallerForActingCode = (caller: Caller, owner: string): Caller =>
  mint(assertCaller(caller), { owner, reason: caller.reason }, isSystem(caller));

/** Whether the kernel minted this value. */
export const isCaller = (value: unknown): value is Caller => MintedCaller.systemOf(value) !== undefined;
/** A caller of `host.asSystem(reason)`, or one attributed from it: no permissions of a user apply. */
export const isSystem = (value: unknown): boolean => MintedCaller.systemOf(value) === true;

/** @throws CAPABILITY_DENIED for anything that the kernel did not mint. */
export function assertCaller(value: unknown): Caller {
  if (isCaller(value)) return value;
  throw fail('CAPABILITY_DENIED', 'a caller that the kernel did not mint');
}

/** Copies a caller as plain data for third-party listeners. Services refuse the copy where they take a caller. */
export function copyCallerAsPlainData(caller: Caller): CallerFields & { readonly system: boolean } {
  const { user, role, admin, app, share = null, ip = null, userAgent = null, origin = null } = caller;
  const system = isSystem(caller);
  return Object.freeze({
    user,
    role,
    share,
    ip,
    userAgent,
    origin,
    system,
    admin: admin && !system,
    app: app && !system,
  });
}
