import { hasAppPart, type Slot } from '../load/slot.ts';
import type { ExtensionType } from '../model.ts';

/** The part of an extension that runs in the browser. */
export interface AppHalf {
  readonly id: string;
  readonly name: string;
  readonly type: ExtensionType;
  /** Its package: nothing outside of it is served. */
  readonly folder: string;
  /** Absent where the layout of single files has none. */
  readonly file: string | undefined;
  readonly revision: string;
}

/**
 * What the browser is given: nothing of packages that failed, whose browser half would act with the rights of whoever is
 * signed in to the admin app.
 */
export const appHalvesOf = (slots: readonly Slot[]): readonly AppHalf[] =>
  slots
    .filter(({ found, failure, loaded }) => failure === undefined && hasAppPart(found) && !isFailed(loaded))
    .map(({ found: { id, name, type, folder, files, revision } }) => ({
      id,
      name,
      type: type as ExtensionType,
      folder,
      file: files.app,
      revision,
    }))
    // An operation of single files may have no half for the browser.
    .filter(({ type, file }) => file !== undefined || type !== 'operation');

const isFailed = (loaded: Slot['loaded']): boolean =>
  (loaded?.entries?.length ?? 0) > 0 && (loaded?.entries ?? []).every(({ status }) => status === 'failed');
