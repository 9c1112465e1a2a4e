import type { Caller } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import { clientInfoOf } from '../../http/library.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { failWithPage } from '../page-failures.ts';
import { redirectTo, rootOf } from '../page-response.ts';
import type { PageTools } from '../page-tools.ts';
import { codeOf, type PageProblem, problemOf, statusOf } from '../problems.ts';
import { describePage, describePageForm, SHARE_PARAMETERS } from '../route-descriptions.ts';
import { createDeadEndPage } from './password-pages.ts';
import { createSharedItemPage, createShareEntryPage } from './share-page.ts';

/** Holds `<share>.<access token>` for the pages below `/admin/share`, apart from the session of a user who is signed in. */
const COOKIE = 'service_share';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ACCESS_TOKEN = /^[\w.-]{1,4000}$/;
/** Codes of a share that does not exist, or is outside of its dates. */
const UNAVAILABLE_CODES: readonly string[] = ['FORBIDDEN', 'ROUTE_NOT_FOUND', 'INVALID_PATH_PARAMETER'];

interface ShareInfo {
  readonly id: string;
  readonly collection: string;
  readonly item: string | number;
  readonly password: string | null;
}

/** `/admin/share/<id>`: asks for the password where there is one, and shows the item with the rights of the share. */
export function shareRoutes({ api, forms, identity, routing, secure, sendPage }: PageTools): readonly Route[] {
  const addressOf = (ctx: HttpContext) => `${rootOf(ctx)}/admin/share/${ctx.params.id}`;
  const unavailablePage = (): Page =>
    createDeadEndPage(
      'This share is not available',
      'It may have ended, or the link is not complete. Ask the person who shared it with you.',
      html``,
    );

  /** Fails with the page that says that there is no such share. */
  async function readInfo(ctx: HttpContext): Promise<ShareInfo> {
    try {
      const id = UUID.test(ctx.params.id as string) ? ctx.params.id : '-';
      const { body } = await api.send(ctx, { method: 'GET', path: `/shares/info/${id}` });
      return (body as { data: ShareInfo }).data;
    } catch (error) {
      if (!UNAVAILABLE_CODES.includes(codeOf(error))) throw error;
      return failWithPage(ctx, error, unavailablePage(), 404);
    }
  }

  const entryPage = (ctx: HttpContext, { password }: ShareInfo, problem?: PageProblem): Page =>
    createShareEntryPage({
      action: addressOf(ctx),
      formToken: forms.renderField(ctx),
      needsPassword: password !== null,
      problem,
    });

  /** The caller that an earlier visit proved by the password; undefined without one, or when the token has expired. */
  async function visitorOf(ctx: HttpContext): Promise<Caller | undefined> {
    const [id, ...rest] = ctx.cookies.get(COOKIE)?.split('.') ?? [];
    const token = rest.join('.');
    if (id !== ctx.params.id || !ACCESS_TOKEN.test(token)) return undefined;
    try {
      return await identity.ofToken(token, clientInfoOf(ctx));
    } catch (error) {
      if (statusOf(error) >= 500) throw error;
      return undefined;
    }
  }

  async function readItem(ctx: HttpContext, { collection, item }: ShareInfo, caller: Caller) {
    const folder = collection.startsWith('platform_')
      ? `/${collection.slice('platform_'.length)}`
      : `/items/${encodeURIComponent(collection)}`;
    const path = `${folder}/${encodeURIComponent(String(item))}?fields=*`;
    const { body } = await api.send(ctx, { method: 'GET', path, caller });
    return (body as { data: Record<string, unknown> }).data;
  }

  const show: Route = {
    method: 'GET',
    path: '/admin/share/:id',
    description: describePage('Shows a shared item, or asks for the password of the share.', {}, SHARE_PARAMETERS),
    async handle(ctx) {
      const info = await readInfo(ctx);
      const visitor = await visitorOf(ctx);
      if (!visitor) return sendPage(ctx, entryPage(ctx, info));
      try {
        await sendPage(ctx, createSharedItemPage(info.collection, await readItem(ctx, info, visitor)));
      } catch (error) {
        if (!UNAVAILABLE_CODES.includes(codeOf(error))) throw error;
        failWithPage(ctx, error, unavailablePage(), 404);
      }
    },
  };

  const open: Route = {
    method: 'POST',
    path: '/admin/share/:id',
    body: 'unread',
    description: describePageForm('Opens a share, by its password where it has one.', {}, SHARE_PARAMETERS),
    async handle(ctx) {
      const fields = await routing.readForm(ctx as never);
      forms.assertSameSite(ctx, fields);
      const info = await readInfo(ctx);
      try {
        const given = fields.password ? { password: fields.password } : {};
        const { body } = await api.send(ctx, {
          method: 'POST',
          path: '/shares/auth',
          body: { share: ctx.params.id, ...given, mode: 'json' },
        });
        const { access_token, expires } = (body as { data: { access_token: string; expires: number } }).data;
        const seconds = Math.floor(expires / 1000);
        ctx.res.appendHeader(
          'Set-Cookie',
          `${COOKIE}=${ctx.params.id}.${access_token}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
        );
      } catch (error) {
        const special = {
          INVALID_CREDENTIALS:
            info.password === null
              ? { text: 'This share cannot be opened any more.' }
              : { text: 'The password is not right, or the share was opened too often.', field: 'password' },
        };
        failWithPage(ctx, error, entryPage(ctx, info, problemOf(error, special)));
      }
      redirectTo(ctx, addressOf(ctx));
    },
  };

  return [show, open];
}
