import { type Caller, Failure, Failures } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import type { Payload } from '../../items/contract.ts';
import type { Collection } from '../../schema/contract.ts';
import { FILES_COLLECTION_NAME, type IncomingFile } from '../contract.ts';
import type { FileRouteDeps } from '../deps.ts';
import type { FormFile, FormReader } from '../multipart/form.ts';
import { formToPayload } from '../multipart/form-values.ts';
import { withForm } from '../multipart/with-form.ts';

type UploadDeps = Pick<FileRouteDeps, 'files' | 'items' | 'schema' | 'events' | 'asSystem' | 'waitForRemoval' | 'log'>;

const toIncomingFile = ({ bytes, filename, type, fields }: FormFile, collection: Collection): IncomingFile => ({
  bytes,
  filename,
  type,
  metadata: formToPayload(fields, collection),
});

/** `POST /files` with a form. Answers the keys of the files in their order, at least one. Either all files are kept or none. */
export async function createFilesFromForm(deps: UploadDeps, ctx: HttpContext): Promise<readonly string[]> {
  const collection = await filesCollection(deps);
  const { caller } = ctx.state;
  return withForm(ctx, {}, async (form) => {
    const createdIds: string[] = [];
    try {
      await forEachFile(form, async (file) => {
        createdIds.push(await deps.files.create(caller, toIncomingFile(file, collection)));
      });
      if (createdIds.length === 0) throw new Failure('INVALID_PAYLOAD', 'The form has no file.');
      return createdIds;
    } catch (error) {
      await deleteCreated(deps, createdIds);
      throw error;
    }
  });
}

/** `PATCH /files/<id>` with a form: other bytes, other values, or both. Answers the key. */
export async function updateFileFromForm(deps: UploadDeps, ctx: HttpContext, id: string): Promise<string> {
  const collection = await filesCollection(deps);
  const { caller } = ctx.state;
  return withForm(ctx, { maxFiles: 1 }, async (form) => {
    const file = await form.nextFile();
    if (file) return deps.files.replace(caller, id, toIncomingFile(file, collection));
    return updateValues(deps, caller, id, formToPayload(form.remainingFields(), collection));
  });
}

async function updateValues({ items }: UploadDeps, caller: Caller, id: string, payload: Payload): Promise<string> {
  return String(await items.updateOne(caller, FILES_COLLECTION_NAME, id, payload));
}

async function forEachFile(form: FormReader, work: (file: FormFile) => Promise<void>): Promise<void> {
  let position = 0;
  for (let file = await form.nextFile(); file; file = await form.nextFile()) {
    position++;
    const { filename } = file;
    await work(file).catch((error: unknown) => {
      throw position > 1 ? nameFailedFile(error, { file: position, filename }) : error;
    });
  }
}

/** Adds to the error of a form with several files which of them failed. */
function nameFailedFile(error: unknown, file: { readonly file: number; readonly filename: string }): unknown {
  if (error instanceof Failures) return new Failures(error.failures.map((one) => nameFailedFile(one, file) as Failure));
  if (!(error instanceof Failure) || error.constructor !== Failure) return error;
  return new Failure(error.code, error.detail, { ...error.extensions, ...file });
}

/** Deletes the files created before another one failed. No client has seen their keys yet. */
async function deleteCreated(
  { items, events, asSystem, waitForRemoval, log }: UploadDeps,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const system = asSystem('a form failed: the files created before are deleted');
  try {
    await events.withoutExtensionListeners(() => items.deleteMany(system, FILES_COLLECTION_NAME, ids));
    await waitForRemoval();
  } catch (error) {
    // Only logged: the client gets the error of the failed file.
    log.error({ err: error, files: ids }, 'files of a failed form could not be deleted');
  }
}

async function filesCollection({ schema }: UploadDeps): Promise<Collection> {
  const { collections } = await schema.snapshot();
  return collections.get(FILES_COLLECTION_NAME) as Collection;
}
