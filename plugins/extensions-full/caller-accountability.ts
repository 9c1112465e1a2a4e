import { type Caller, type IdentityApi, isSystem } from '#kernel';

/** A caller as extensions see and pass it on (conventions, "Shared extension context"). */
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

/** The accountability object of a caller, a new one each time. Null for the system, to which no user's permissions apply. */
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

/** The caller of an accountability object. Missing members are null or false. */
export function toCallerFromAccountability(identity: IdentityApi, accountability: object): Caller {
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
