import { type Caller, fail, type Middleware, publicCaller } from '#kernel';
import type { Access } from '../access/contract.ts';
import type { Db } from '../database/contract.ts';
import { clientOf, type HttpContext } from '../http/contract.ts';
import type { AccessTokens, Claims } from './access-tokens.ts';
import type { FindByCookie } from './asset-cookie.ts';
import { presentedToken } from './presented-token.ts';
import type { Standing } from './standing.ts';
import { ownerOf } from './static-tokens.ts';

interface Deps {
  readonly db: Db;
  readonly access: Pick<Access, 'role'>;
  readonly tokens: AccessTokens;
  readonly standing: Standing;
  readonly byCookie: FindByCookie;
}

type Client = ReturnType<typeof clientOf>;

/** Says who is asking. A token that is wrong fails the request: it does not become the Public role's. */
export function identify({ db, access, tokens, standing, byCookie }: Deps): Middleware {
  async function callerOf(token: string, client: Client): Promise<Caller> {
    const verified = tokens.verify(token);
    if (!verified) return callerWith(await ownerOf(db, token), client);
    if (verified.claims.id !== null) await standing.check(verified.claims.id);
    return callerWith(verified.claims, client);
  }

  async function callerWithout(context: HttpContext, client: Client): Promise<Caller> {
    const claims = await byCookie(context, client.ip);
    return claims ? callerWith(claims, client) : publicCaller(client);
  }

  return {
    name: 'identify',
    phase: 'identify',
    async handle(ctx, next) {
      const context = ctx as unknown as HttpContext;
      const client = clientOf(context);
      const token = presentedToken(context);
      const caller = token === undefined ? await callerWithout(context, client) : await callerOf(token, client);
      await checkAddress(access, caller.role, client.ip);
      context.state.caller = caller;
      await next();
    },
  };
}

const callerWith = ({ id, role, admin_access, app_access }: Claims, client: Client): Caller => ({
  ...client,
  user: id,
  role,
  admin: admin_access,
  app: app_access || admin_access,
});

/** A role may be bound to addresses; the Public role's hold for whoever has none. */
export async function checkAddress(
  access: Pick<Access, 'role'>,
  role: string | null,
  ip: string | null,
): Promise<void> {
  const addresses = (await access.role(role))?.addresses ?? [];
  if (addresses.length > 0 && (ip === null || !addresses.includes(ip))) {
    throw fail('INVALID_IP', `${ip} is not among the addresses of the role`);
  }
}
