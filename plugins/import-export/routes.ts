import { fail } from '#kernel';
import { isMultipart, withForm } from '../files/library.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, checkUnknownQueryMembers, createDisconnectSignalGetter, sendData } from '../http/library.ts';
import type { ItemsEngine } from '../items/contract.ts';
import { QUERY_PARAMETER_NAMES } from '../items/library.ts';
import type { ImportExportService } from './contract.ts';
import { parseExportRequest } from './export/export-request.ts';
import { EXPORT_ROUTE_DESCRIPTION, IMPORT_ROUTE_DESCRIPTION } from './route-descriptions.ts';

interface Deps extends ImportExportService {
  readonly items: Pick<ItemsEngine, 'checkImport'>;
}

/** `/utils/import` and `/utils/export` (specification, "Utility endpoints"). */
export const importExportRoutes = ({ items, importRows, exportRows }: Deps): readonly Route[] => [
  {
    method: 'POST',
    path: '/utils/import/:collection',
    description: IMPORT_ROUTE_DESCRIPTION,
    body: 'unread',
    async handle(ctx) {
      const collection = collectionOf(ctx);
      const { caller } = ctx.state;
      // The permission is checked before a byte of the form is read.
      await items.checkImport(caller, collection);
      if (!isMultipart(ctx)) {
        const mediaType = ctx.req.headers['content-type'];
        throw fail('UNSUPPORTED_MEDIA_TYPE', 'The body must be a form with a file.', { mediaType, where: 'body' });
      }
      await withForm(ctx, { maxFiles: 1 }, async (form) => {
        const file = await form.nextFile();
        if (!file) throw fail('INVALID_PAYLOAD', 'The form has no file.', { path: ['file'] });
        await importRows(caller, collection, file, { signal: createDisconnectSignalGetter(ctx)() });
      });
      ctx.status = 200;
      ctx.body = '';
    },
  },
  {
    method: 'POST',
    path: '/utils/export/:collection',
    description: EXPORT_ROUTE_DESCRIPTION,
    async handle(ctx) {
      const request = parseExportRequest(bodyOf(ctx));
      checkUnknownQueryMembers(ctx, request.query, QUERY_PARAMETER_NAMES);
      await exportRows(ctx.state.caller, collectionOf(ctx), request);
      sendData(ctx, undefined);
    },
  },
];

const collectionOf = (ctx: HttpContext): string => ctx.params.collection ?? '';
