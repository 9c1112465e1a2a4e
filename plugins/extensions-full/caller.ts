import { type Caller, type IdentityApi, isSystem } from '#kernel';

/** A caller as extensions see and hand it on (conventions, "Shared extension context"). */
export interface Accountability {
  user: string | null;
  role: string | null;
  admin: boolean;
  app: boolean;
  ip: string | null;
  userAgent: string | null;
  origin: string | null;
  share?: string;
}

/** Null for work that nobody asked for: no user's permissions apply to it. An object of its own each time. */
export const accountabilityOf = (caller: Caller): Accountability | null =>
  isSystem(caller)
    ? null
    : {
        user: caller.user,
        role: caller.role,
        admin: caller.admin,
        app: caller.app,
        ip: caller.ip ?? null,
        userAgent: caller.userAgent ?? null,
        origin: caller.origin ?? null,
        ...(caller.share ? { share: caller.share } : {}),
      };

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** The caller an accountability object stands for; of an incomplete one only what it says. */
export function callerOf(identity: IdentityApi, given: object): Caller {
  const { user, role, admin, app, share, ip, userAgent, origin } = given as Readonly<Record<string, unknown>>;
  return identity.mint('accountability', {
    user: text(user),
    role: text(role),
    admin: admin === true,
    app: app === true || admin === true,
    ip: text(ip),
    userAgent: text(userAgent),
    origin: text(origin),
    ...(text(share) === null ? {} : { share: text(share) }),
  });
}
