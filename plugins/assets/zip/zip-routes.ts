import { type Caller, fail } from '#kernel';
import { isUuid } from '../../database/library.ts';
import type { HttpContext, Route } from '../../http/contract.ts';
import { bodyOf, sendStream } from '../../http/library.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { StorageService } from '../../storage/contract.ts';
import type { FindReadableFiles } from '../reading/readable-file.ts';
import { DOWNLOAD_FILES_ROUTE_DESCRIPTION, DOWNLOAD_FOLDER_ROUTE_DESCRIPTION } from '../serving/route-descriptions.ts';
import { createUniquePaths, pathsBelow, toEntryName, type ZipFolder } from './entry-names.ts';
import { type ZipEntry, zipBytes } from './zip-stream.ts';

interface ZipRouteDeps {
  readonly findReadable: FindReadableFiles;
  readonly items: Pick<ItemsEngine, 'rows'>;
  readonly storage: Pick<StorageService, 'at'>;
  /** Files that one archive may have. */
  readonly maxFiles: number;
}

/** `POST /assets/files` and `POST /assets/folder/<id>`: files in an archive (conventions, "Client library"). */
export function zipRoutes({ findReadable, items, storage, maxFiles }: ZipRouteDeps): readonly Route[] {
  async function send(ctx: HttpContext, entries: readonly ZipEntry[], name: string): Promise<void> {
    ctx.set('Cache-Control', 'no-store');
    await sendStream(ctx, zipBytes(storage, entries), { type: 'application/zip', download: `${name}.zip` });
  }

  function assertCount(count: number): void {
    if (count > maxFiles)
      throw fail('INVALID_PAYLOAD', `An archive may have ${maxFiles} files (ASSETS_ZIP_MAX_FILES).`, { path: ['ids'] });
  }

  async function findFolder(caller: Caller, id: string): Promise<readonly ZipFolder[]> {
    const query = { fields: ['id', 'name', 'parent'], sort: ['name', 'id'], limit: -1 };
    const folders = await items.rows<ZipFolder>(caller, 'platform_folders', query);
    if (!folders.some((folder) => folder.id === id))
      throw fail('FORBIDDEN', 'there is no such folder, or it may not be read');
    return folders;
  }

  return [
    {
      method: 'POST',
      path: '/assets/files',
      description: DOWNLOAD_FILES_ROUTE_DESCRIPTION,
      async handle(ctx) {
        const ids = parseIds(bodyOf(ctx));
        assertCount(ids.length);
        const files = await findReadable.many(ctx.state.caller, ids);
        const unique = createUniquePaths();
        const entries = files.map((file) => ({ file, path: unique('', toEntryName(file.filename_download, file.id)) }));
        await send(ctx, entries, 'files');
      },
    },
    {
      method: 'POST',
      path: '/assets/folder/:id',
      description: DOWNLOAD_FOLDER_ROUTE_DESCRIPTION,
      async handle(ctx) {
        const { caller } = ctx.state;
        const id = (ctx.params.id as string).toLowerCase();
        const folders = await findFolder(caller, id);
        const paths = pathsBelow(id, folders);
        const files = await findReadable.inFolders(caller, [...paths.keys()], maxFiles + 1);
        assertCount(files.length);
        const unique = createUniquePaths();
        const entries = files.map(({ folder, ...file }) => ({
          file,
          path: unique(paths.get(folder) as string, toEntryName(file.filename_download, file.id)),
        }));
        const name = folders.find((folder) => folder.id === id)?.name ?? '';
        await send(ctx, entries, toEntryName(name, 'folder'));
      },
    },
  ];
}

/** @throws INVALID_PAYLOAD for a body that is not `{ ids }`, a list of ids that is not empty */
function parseIds(body: unknown): readonly string[] {
  const ids = (body as { readonly ids?: unknown } | null | undefined)?.ids;
  if (!Array.isArray(ids) || ids.length === 0)
    throw fail('INVALID_PAYLOAD', '"ids" must be a list of ids of files.', { path: ['ids'] });
  const wrong = ids.findIndex((id) => typeof id !== 'string' || !isUuid(id.toLowerCase()));
  if (wrong >= 0) throw fail('INVALID_PAYLOAD', `"ids" has a value that is no id.`, { path: ['ids', wrong] });
  return [...new Set((ids as string[]).map((id) => id.toLowerCase()))];
}
