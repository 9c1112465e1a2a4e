import { type EventMeta, type EventsApi, fail } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';
import type { Payload } from '../../items/contract.ts';
import type { SchemaService } from '../../schema/contract.ts';
import type { StorageService } from '../../storage/contract.ts';
import { FILES_COLLECTION_NAME } from '../contract.ts';
import type { FileServiceDeps } from '../deps.ts';
import { defaultDownloadName, toDownloadName } from '../names/download-name.ts';
import { parseMimeType } from '../names/mime-type.ts';
import { fileExtensionForStoredObject } from '../names/object-extension.ts';
import { fileNameToTitle } from '../names/title.ts';
import { updatableFiles } from '../upload/writable-files.ts';
import { type AssertMimeTypeAllowed, createAssertMimeTypeAllowed } from './allowed-mime-types.ts';
import { readFileCreatePresets } from './permission-presets.ts';
import { withoutPlatformFields } from './platform-fields.ts';
import { createLocationChangeFailure, requireConfiguredStorageLocationName } from './requested-storage-location.ts';

type WriteRuleDeps = Pick<FileServiceDeps, 'access' | 'config' | 'db' | 'query'> & {
  readonly schema: Pick<SchemaService, 'snapshot'>;
  readonly storage: Pick<StorageService, 'locations'>;
};

interface RuleDeps extends WriteRuleDeps {
  readonly assertTypeAllowed: AssertMimeTypeAllowed;
}

/** Registers the rules for every write of rows of files, nested writes included. */
export function registerFileWriteRules(ruleDeps: WriteRuleDeps, events: Pick<EventsApi, 'onFilter'>): void {
  const deps: RuleDeps = { ...ruleDeps, assertTypeAllowed: createAssertMimeTypeAllowed(ruleDeps.config) };
  events.onFilter('files.create', (payload, meta) =>
    checkCreate(deps, withoutPlatformFields(payload as Payload), meta),
  );
  events.onFilter('files.update', (payload, meta) =>
    checkUpdate(deps, withoutPlatformFields(payload as Payload), meta),
  );
}

async function checkCreate(
  { access, assertTypeAllowed, storage }: RuleDeps,
  payload: Payload,
  { caller }: EventMeta,
): Promise<Payload> {
  await access.assertAllowed(caller, 'create', FILES_COLLECTION_NAME);
  const presets = await readFileCreatePresets(access, caller);
  const type = parseMimeType(payload.type ?? presets.type);
  if (!type) throw fail('INVALID_PAYLOAD', 'type has to be a MIME type.', { field: 'type', path: ['type'] });
  assertTypeAllowed(type.type);
  const { storage: requestedStorage, ...rest } = payload;
  const location = requireConfiguredStorageLocationName(storage, requestedStorage);
  return {
    ...(await createDefaults(access, caller, rest, presets, { storage: storage.locations[0], type: type.type })),
    ...rest,
    ...(location === undefined ? {} : { storage: location }),
  };
}

/** Defaults for a row without bytes. Fields that the caller may not write get the defaults of their columns instead. */
async function createDefaults(
  access: Pick<AccessControl, 'permissions'>,
  caller: EventMeta['caller'],
  payload: Payload,
  presets: Payload,
  { storage, type }: { readonly storage: string | undefined; readonly type: string },
): Promise<Payload> {
  const title = typeof payload.title === 'string' ? payload.title : undefined;
  const sentName = typeof payload.filename_download === 'string' ? payload.filename_download : undefined;
  const extension = fileExtensionForStoredObject(undefined, type);
  const nameFromTitle = toDownloadName(title?.replaceAll(/[\\/]/g, ' '));
  const nameWithExtension =
    nameFromTitle === undefined || extension === undefined ? nameFromTitle : `${nameFromTitle}.${extension}`;
  const defaults: Payload = {
    storage,
    filename_download: toDownloadName(nameWithExtension) ?? defaultDownloadName(type),
    ...(sentName === undefined ? {} : { title: fileNameToTitle(sentName) }),
  };
  const set = await access.permissions(caller);
  const permissions = set.of(FILES_COLLECTION_NAME, 'create');
  const mayWrite = (name: string) =>
    set.admin || permissions.some(({ fields }) => fields.includes('*') || fields.includes(name));
  const isUnset = (name: string) => !Object.hasOwn(payload, name) && !Object.hasOwn(presets, name) && mayWrite(name);
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => isUnset(name)));
}

async function checkUpdate(deps: RuleDeps, payload: Payload, { caller, keys }: EventMeta): Promise<Payload> {
  const { access, assertTypeAllowed, schema, storage } = deps;
  await access.assertAllowed(caller, 'update', FILES_COLLECTION_NAME);
  // A text that is no MIME type is checked as it is; assets serve it as application/octet-stream.
  if (typeof payload.type === 'string') assertTypeAllowed(parseMimeType(payload.type)?.type ?? payload.type);
  if (!Object.hasOwn(payload, 'storage') || payload.storage === null) return payload;
  const schemaSnapshot = await schema.snapshot();
  const collection = schemaSnapshot.collections.get(FILES_COLLECTION_NAME);
  if (!collection) return payload;
  const context = { collection, schemaSnapshot, caller };
  // Locked, since an upload may be about to give bytes to a row without any.
  const files = await updatableFiles(deps, context, keys as readonly unknown[], ['storage'], { lock: true });
  // The value of a location that is not configured any more may be sent back unchanged.
  const changed = files.filter((file) => file.storage !== payload.storage);
  if (changed.length > 0) requireConfiguredStorageLocationName(storage, payload.storage);
  if (changed.some((file) => file.filename_disk !== null)) throw createLocationChangeFailure();
  return payload;
}
