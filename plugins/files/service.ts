import type { Caller } from '#kernel';
import type { Payload } from '../items/contract.ts';
import type { FileInspection } from '../media/contract.ts';
import { FILES_COLLECTION_NAME, type FileWriter } from './contract.ts';
import type { FileServiceDeps } from './deps.ts';
import type { OrphanLedger } from './orphan-ledger.ts';
import { readFileCreatePresets } from './rules/permission-presets.ts';
import { deriveFileFields, extractUnsetCaptionFields, resolveFileType } from './upload/derive-file-fields.ts';
import { inspectUpload } from './upload/inspect.ts';
import { createUploadPlanner, type UploadPlan } from './upload/plan.ts';
import { createTooLargeFailure, writeUploadToStorage } from './upload/receive.ts';

interface FilesDeps extends FileServiceDeps {
  readonly ledger: OrphanLedger;
  /** See `FileRouteDeps.waitForRemoval`. */
  readonly waitForRemoval: () => Promise<void>;
}

type WriteRow = (
  found: FileInspection,
  values: Payload,
) => Promise<{ readonly key: string; readonly payload: Payload }>;

/**
 * Creates the service `files`. It writes bytes first and the row second: a row never names an object that is not there, and the
 * ledger names objects without a row.
 */
export function createFileStorageService(deps: FilesDeps): FileWriter {
  const { access, config, db, events, items, ledger, log, media, waitForRemoval } = deps;
  const planner = createUploadPlanner(deps);

  async function storeUpload(
    caller: Caller,
    plan: UploadPlan,
    bytes: AsyncIterable<Uint8Array>,
    write: WriteRow,
  ): Promise<string> {
    const entry = await ledger.open(plan.location, plan.object);
    try {
      const received = await writeUploadToStorage(plan, bytes, log);
      const inspection = await inspectUpload({ media, log }, plan.location, plan.object, received, plan.declared?.type);
      for (const type of [resolveFileType(plan, inspection), inspection.type])
        if (type !== undefined) planner.assertTypeAllowed(type);
      const key = await db.transaction(async () => {
        await entry.transferToRow();
        const row = await write(inspection, deriveFileFields(plan, received, inspection, config));
        events.action(['files.upload'], { caller, collection: FILES_COLLECTION_NAME, ...row });
        return row.key;
      });
      entry.close();
      return key;
    } catch (error) {
      await entry.abandon();
      throw error;
    }
  }

  function assertOutsideTransaction(): void {
    if (db.isInUnitOfWork())
      throw new Error('files.create and files.replace cannot run inside a unit of work: bytes may take long to arrive');
  }

  return {
    async create(caller, { bytes, ...about }, options = {}) {
      assertOutsideTransaction();
      const plan = await planner.toCreate(caller, about, options);
      return storeUpload(caller, plan, bytes, async (found, values) => {
        const presets = await readFileCreatePresets(access, caller);
        const isUnset = (name: string) => !Object.hasOwn(plan.payload, name) && !Object.hasOwn(presets, name);
        const platformValues = {
          ...plan.platformValues,
          ...values,
          ...extractUnsetCaptionFields(isUnset, found),
          type: resolveFileType(plan, found),
        };
        const key = await events.withoutExtensionListeners(() =>
          items.createOne(caller, FILES_COLLECTION_NAME, plan.payload, { platformValues: platformValues }),
        );
        await options.onCreated?.(String(key));
        return { key: String(key), payload: { ...plan.payload, ...platformValues } };
      });
    },

    async replace(caller, id, { bytes, ...about }, options = {}) {
      assertOutsideTransaction();
      const plan = await planner.toReplace(caller, id, about, options);
      const key = await storeUpload(caller, plan, bytes, async (found, values) => {
        const payload = { ...plan.payload, type: resolveFileType(plan, found) };
        const platformValues = { ...plan.platformValues, ...values };
        const changed = await events.withoutExtensionListeners(() =>
          items.updateOne(caller, FILES_COLLECTION_NAME, plan.id, payload, { platformValues: platformValues }),
        );
        return { key: String(changed), payload: { ...payload, ...platformValues } };
      });
      await waitForRemoval();
      return key;
    },

    async check(caller, { size, ...about }, id) {
      const { limit } =
        id === undefined ? await planner.toCreate(caller, about, {}) : await planner.toReplace(caller, id, about, {});
      if (size !== undefined && size > limit) throw createTooLargeFailure(limit, size);
    },
  };
}
