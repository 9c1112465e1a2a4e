import type { Caller } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';
import type { HttpContext, Route } from '../../http/contract.ts';
import { parsedQueryStringOf, sendData, sendJsonTextInEnvelope } from '../../http/library.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import { assertUserOrShare, requireCallerUser } from '../require-caller-user.ts';
import {
  COLLECTION_RIGHTS_DESCRIPTION,
  ITEM_RIGHTS_DESCRIPTION,
  OWN_RIGHTS_ROUTE_DESCRIPTION,
  OWN_ROLE_ROUTE_DESCRIPTION,
} from './own-rights-descriptions.ts';

const ROLES = 'platform_roles';

interface Deps {
  readonly items: Pick<ItemsEngine, 'itemPermissions' | 'readOne'>;
  readonly access: Pick<AccessControl, 'effectivePermissions'>;
}

/** The routes `/roles/me` and `/permissions/me`: the caller's role and permissions, without a permission on either collection. */
export function ownRightsRoutes({ items, access }: Deps): readonly Route[] {
  async function role(ctx: HttpContext): Promise<void> {
    const { caller } = ctx.state;
    if (!caller.share) requireCallerUser(caller);
    if (caller.role === null) return sendData(ctx, []);
    try {
      const { data } = await items.readOne(caller, ROLES, caller.role, parsedQueryStringOf(ctx));
      sendJsonTextInEnvelope(ctx, `[${data}]`);
    } catch (error) {
      if ((error as { code?: string } | null)?.code !== 'FORBIDDEN') throw error;
      sendData(ctx, [{ id: caller.role }]);
    }
  }

  const item = async (ctx: HttpContext): Promise<void> => {
    const { collection, id } = ctx.params;
    sendData(ctx, await items.itemPermissions(userOrShare(ctx), collection as string, id));
  };

  return [
    { method: 'GET', path: '/roles/me', description: OWN_ROLE_ROUTE_DESCRIPTION, handle: role },
    {
      method: 'GET',
      path: '/permissions/me',
      description: OWN_RIGHTS_ROUTE_DESCRIPTION,
      handle: async (ctx) => sendData(ctx, await access.effectivePermissions(userOrShare(ctx))),
    },
    { method: 'GET', path: '/permissions/me/:collection', description: COLLECTION_RIGHTS_DESCRIPTION, handle: item },
    { method: 'GET', path: '/permissions/me/:collection/:id', description: ITEM_RIGHTS_DESCRIPTION, handle: item },
  ];
}

const userOrShare = (ctx: HttpContext): Caller => assertUserOrShare(ctx.state.caller);
