import { fail } from '#kernel';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import type { AppExtensionType } from './extension-types.ts';
import type { ExtensionManager } from './load/extension-manager.ts';
import type { ExtensionRow } from './records/info-record.ts';

/** Kinds of extensions for the admin app, by their names in the answer. */
const LISTED = {
  interfaces: 'interface',
  displays: 'display',
  layouts: 'layout',
  modules: 'module',
} as const satisfies Record<string, AppExtensionType>;

/**
 * The names of what is loaded in the browser, by kind (specification, "Server endpoints"); for callers that may read
 * `GET /extensions`.
 */
export const createExtensionGraphqlFields = (
  extensions: Pick<ExtensionManager, 'rows'>,
): readonly ContributedGraphqlField[] => [
  {
    scope: 'system',
    operation: 'query',
    definition: 'extensions: extensions',
    types: `type extensions { ${Object.keys(LISTED)
      .map((name) => `${name}: [String]`)
      .join(' ')} }`,
    offeredTo: 'admins',
    resolve(_args, { caller }) {
      if (!caller.admin) throw fail('FORBIDDEN', 'extensions are for admins only');
      const rows = extensions.rows();
      return Object.fromEntries(
        Object.entries(LISTED).map(([name, type]) => [name, rows.flatMap((row) => listNames(row, type)).sort()]),
      );
    },
  },
];

/**
 * Names of this type in a row: the extension itself, or the entries of a bundle whose browser code works. The browser code of a
 * bundle with a failure reason does not work.
 */
function listNames({ extension, status, reason }: ExtensionRow, type: AppExtensionType): readonly string[] {
  if (status === 'failed') return [];
  if (extension.type === type) return [extension.name];
  if (extension.type !== 'bundle' || reason !== undefined) return [];
  return (extension.manifest?.entries ?? []).filter((entry) => entry.type === type).map(({ name }) => name);
}
