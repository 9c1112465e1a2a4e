import type { HttpContext, Route } from '../../http/contract.ts';
import { bodyOf, createDisconnectSignalGetter } from '../../http/library.ts';
import type { Key } from '../../items/contract.ts';
import { assertAnswerShapeParameters, collectionRoutes, sendWrittenRows } from '../../items/library.ts';
import { FILES_COLLECTION_NAME } from '../contract.ts';
import type { FileRouteDeps } from '../deps.ts';
import { parseFileImportRequest } from '../import/parse-import-request.ts';
import { isMultipart } from '../multipart/with-form.ts';
import {
  describeFormBody,
  FILE_CREATE_SUMMARY,
  FILE_IMPORT_ROUTE_DESCRIPTION,
  FILE_UPDATE_SUMMARY,
} from './route-descriptions.ts';
import { createFilesFromForm, updateFileFromForm } from './upload.ts';

const PATH = '/files';

/**
 * `/files` (specification, "Files endpoints"): the routes of any collection. A form in place of JSON brings bytes, and routes that
 * delete rows answer when the bytes are removed too.
 */
export function fileRoutes(deps: FileRouteDeps): readonly Route[] {
  const { importFile } = deps;
  const send = (ctx: HttpContext, keys: readonly Key[]) =>
    sendWrittenRows(deps.items, ctx, FILES_COLLECTION_NAME, keys, keys.length > 1);
  return [
    ...collectionRoutes(deps.items, PATH, FILES_COLLECTION_NAME).map((route) => {
      switch (`${route.method} ${route.path}`) {
        case `POST ${PATH}`:
          return acceptForm(
            deps,
            { ...route, description: describeFormBody(route.description, FILE_CREATE_SUMMARY) },
            'create',
            async (ctx) => send(ctx, await createFilesFromForm(deps, ctx)),
          );
        case `PATCH ${PATH}/:id`:
          return acceptForm(
            deps,
            { ...route, description: describeFormBody(route.description, FILE_UPDATE_SUMMARY) },
            'update',
            async (ctx) => send(ctx, [await updateFileFromForm(deps, ctx, ctx.params.id ?? '')]),
          );
        case `DELETE ${PATH}`:
        case `DELETE ${PATH}/:id`:
          return { ...route, handle: waitForRemovalAfter(deps, route) };
        default:
          return route;
      }
    }),
    {
      method: 'POST',
      path: `${PATH}/import`,
      description: FILE_IMPORT_ROUTE_DESCRIPTION,
      async handle(ctx) {
        await assertAnswerShapeParameters(deps.items, ctx, FILES_COLLECTION_NAME);
        const key = await importFile(
          ctx.state.caller,
          parseFileImportRequest(bodyOf(ctx)),
          createDisconnectSignalGetter(ctx)(),
        );
        await send(ctx, [key]);
      },
    },
  ];
}

/** A route that accepts forms beside JSON: `route` handles JSON, `handleForm` handles forms. */
const acceptForm = (
  { access, items, readBody }: FileRouteDeps,
  route: Route,
  action: 'create' | 'update',
  handleForm: (ctx: HttpContext) => Promise<void>,
): Route => ({
  ...route,
  body: 'unread',
  async handle(ctx) {
    if (!isMultipart(ctx)) {
      // The context of the middleware and of the route are the same object with different types.
      ctx.state.body = await readBody(ctx as never);
      return route.handle(ctx);
    }
    // The permission is checked before a byte of the form is read.
    await access.assertAllowed(ctx.state.caller, action, FILES_COLLECTION_NAME);
    await assertAnswerShapeParameters(items, ctx, FILES_COLLECTION_NAME);
    await handleForm(ctx);
  },
});

const waitForRemovalAfter =
  ({ waitForRemoval }: FileRouteDeps, route: Route): Route['handle'] =>
  async (ctx) => {
    await route.handle(ctx);
    await waitForRemoval();
  };
