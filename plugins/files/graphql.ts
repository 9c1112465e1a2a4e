import type { GraphqlField } from '../graphql/contract.ts';
import { FILES } from './contract.ts';
import type { RouteDeps } from './deps.ts';
import { importOf } from './import/import.ts';
import { importRequest } from './import/request.ts';
import { signalOf } from './routes/index.ts';

/**
 * Bytes come by REST only, but for those that the service fetches itself. `data` is of no input type of the collection: there is
 * none for creating files, since nobody could send their bytes with it.
 */
export function fileFields(deps: RouteDeps): readonly GraphqlField[] {
  const importFile = importOf(deps);
  return [
    {
      scope: 'system',
      operation: 'mutation',
      definition: 'import_file(url: String!, data: JSON): platform_files',
      offeredTo: { collection: FILES, action: 'create' },
      row: FILES,
      resolve: (args, { caller, ctx }) => importFile(caller, importRequest(args), signalOf(ctx)),
    },
  ];
}
