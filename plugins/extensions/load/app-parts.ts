import type { ExtensionAppPart, ExtensionType } from '../extension-types.ts';
import { type ExtensionLoadSlot, hasExtensionAppPart } from './extension-load-state.ts';

/**
 * The browser code that the build contains. Packages that failed are left out, because their browser code would act with the
 * rights of the user who is signed in to the admin app.
 */
export const toAppParts = (slots: readonly ExtensionLoadSlot[]): readonly ExtensionAppPart[] =>
  slots
    .filter(
      ({ extension, failure, loaded }) => failure === undefined && hasExtensionAppPart(extension) && !isFailed(loaded),
    )
    .map(({ extension: { id, name, type, folder, files, revision } }) => ({
      id,
      name,
      type: type as ExtensionType,
      folder,
      file: files.app,
      revision,
    }))
    // An operation in the single-file layout may have no browser code.
    .filter(({ type, file }) => file !== undefined || type !== 'operation');

const isFailed = (loaded: ExtensionLoadSlot['loaded']): boolean =>
  (loaded?.entries?.length ?? 0) > 0 && (loaded?.entries ?? []).every(({ status }) => status === 'failed');
