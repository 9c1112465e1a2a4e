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
export const toAccountability = (caller: Caller): Accountability | null =>
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

const toText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** The caller an accountability object stands for; of an incomplete one only what it says. */
export function toCaller(identity: IdentityApi, accountability: object): Caller {
  const { user, role, admin, app, share, ip, userAgent, origin } = accountability as Readonly<Record<string, unknown>>;
  return identity.mint('accountability', {
    user: toText(user),
    role: toText(role),
    admin: admin === true,
    app: app === true || admin === true,
    ip: toText(ip),
    userAgent: toText(userAgent),
    origin: toText(origin),
    ...(toText(share) === null ? {} : { share: toText(share) }),
  });
}
