import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { FILES_COLLECTION_NAME } from './contract.ts';
import type { FileRouteDeps } from './deps.ts';
import { parseFileImportRequest } from './import/parse-import-request.ts';

/**
 * GraphQL has only the import by URL: bytes themselves can be sent by REST only. `data` is JSON, since the collection has no input
 * type for creating files.
 */
export function fileGraphqlFields({
  importFile,
}: Pick<FileRouteDeps, 'importFile'>): readonly ContributedGraphqlField[] {
  return [
    {
      scope: 'system',
      operation: 'mutation',
      definition: 'import_file(url: String!, data: JSON): platform_files',
      offeredTo: { collection: FILES_COLLECTION_NAME, action: 'create' },
      row: FILES_COLLECTION_NAME,
      resolve: (args, { caller, signal }) =>
        importFile(caller, parseFileImportRequest(args), signal?.() ?? new AbortController().signal),
    },
  ];
}
