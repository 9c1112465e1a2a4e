import { isUuid } from '../../database/library.ts';
import type { HttpContext, Route } from '../../http/contract.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { failWithPage } from '../page-failures.ts';
import { redirectTo, rootOf } from '../page-response.ts';
import type { PageTools } from '../page-tools.ts';
import { codeOf, type PageProblem, problemOf } from '../problems.ts';
import { describePage, describePageForm, SHARE_PARAMETERS } from '../route-descriptions.ts';
import { createDeadEndPage } from './password-pages.ts';
import { createSharedItemPage, createShareEntryPage } from './share-page.ts';
import { createShareVisits, type ShareInfo } from './share-visits.ts';

/** Codes of a share that does not exist, or is outside of its dates, and of an item that is gone. */
const UNAVAILABLE_CODES: readonly string[] = ['FORBIDDEN', 'ROUTE_NOT_FOUND', 'INVALID_PATH_PARAMETER'];

const UNAVAILABLE_PAGE: Page = createDeadEndPage(
  'This share is not available',
  'It may have ended, or the link is not complete. Ask the person who shared it with you.',
  html``,
);

/** `/admin/share/<id>`: asks for the password where there is one, and shows the item with the rights of the share. */
export function shareRoutes(tools: PageTools): readonly Route[] {
  const { api, forms, routing, sendPage } = tools;
  const visits = createShareVisits(tools);
  const addressOf = (ctx: HttpContext) => `${rootOf(ctx)}/admin/share/${ctx.params.id}`;

  /** Fails with the page that says that there is no such share. */
  async function readInfo(ctx: HttpContext): Promise<ShareInfo> {
    try {
      const id = isUuid(ctx.params.id as string) ? ctx.params.id : '-';
      const { body } = await api.send(ctx, { method: 'GET', path: `/shares/info/${id}` });
      return (body as { data: ShareInfo }).data;
    } catch (error) {
      if (!UNAVAILABLE_CODES.includes(codeOf(error))) throw error;
      return failWithPage(ctx, error, UNAVAILABLE_PAGE, 404);
    }
  }

  const entryPage = (ctx: HttpContext, { password }: ShareInfo, problem?: PageProblem): Page =>
    createShareEntryPage({
      action: addressOf(ctx),
      formToken: forms.renderField(ctx),
      needsPassword: password !== null,
      problem,
    });

  const show: Route = {
    method: 'GET',
    path: '/admin/share/:id',
    description: describePage('Shows a shared item, or asks for the password of the share.', {}, SHARE_PARAMETERS),
    async handle(ctx) {
      const info = await readInfo(ctx);
      const visitor = await visits.visitorOf(ctx);
      if (!visitor) return sendPage(ctx, entryPage(ctx, info));
      try {
        await sendPage(ctx, createSharedItemPage(info.collection, await visits.readItem(ctx, info, visitor)));
      } catch (error) {
        if (!UNAVAILABLE_CODES.includes(codeOf(error))) throw error;
        failWithPage(ctx, error, UNAVAILABLE_PAGE, 404);
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
        await visits.begin(ctx, fields.password);
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
