import { type Caller, Failure, Failures } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import type { Payload } from '../../items/contract.ts';
import type { Collection } from '../../schema/contract.ts';
import { FILES, type Incoming } from '../contract.ts';
import type { RouteDeps } from '../deps.ts';
import type { Form, FormFile } from '../multipart/form.ts';
import { withForm } from '../multipart/open.ts';
import { payloadOf } from '../multipart/values.ts';

type UploadDeps = Pick<RouteDeps, 'files' | 'items' | 'schema' | 'events' | 'asSystem' | 'swept' | 'log'>;

const incoming = ({ bytes, filename, type, fields }: FormFile, collection: Collection): Incoming => ({
  bytes,
  filename,
  type,
  metadata: payloadOf(fields, collection),
});

/** `POST /files` as a form. Answers the keys of the files in their order, at least one: all of them are kept or none. */
export async function createFrom(deps: UploadDeps, ctx: HttpContext): Promise<readonly string[]> {
  const collection = await filesCollection(deps);
  const { caller } = ctx.state;
  return withForm(ctx, {}, async (form) => {
    const made: string[] = [];
    try {
      await takeAll(form, async (file) => {
        made.push(await deps.files.create(caller, incoming(file, collection)));
      });
      if (made.length === 0) throw new Failure('INVALID_PAYLOAD', 'The form has no file.');
      return made;
    } catch (error) {
      await withdraw(deps, made);
      throw error;
    }
  });
}

/** `PATCH /files/<id>` as a form: other bytes, other values, or both. Answers the key. */
export async function changeFrom(deps: UploadDeps, ctx: HttpContext, id: string): Promise<string> {
  const collection = await filesCollection(deps);
  const { caller } = ctx.state;
  return withForm(ctx, { maxFiles: 1 }, async (form) => {
    const file = await form.next();
    if (file) return deps.files.replace(caller, id, incoming(file, collection));
    return updateOnly(deps, caller, id, payloadOf(form.rest(), collection));
  });
}

async function updateOnly({ items }: UploadDeps, caller: Caller, id: string, payload: Payload): Promise<string> {
  return String(await items.updateOne(caller, FILES, id, payload));
}

async function takeAll(form: Form, take: (file: FormFile) => Promise<void>): Promise<void> {
  let position = 0;
  for (let file = await form.next(); file; file = await form.next()) {
    position++;
    const { filename } = file;
    await take(file).catch((error: unknown) => {
      throw position > 1 ? naming(error, { file: position, filename }) : error;
    });
  }
}

/** Of several files the one that was refused. */
function naming(error: unknown, which: { readonly file: number; readonly filename: string }): unknown {
  if (error instanceof Failures) return new Failures(error.failures.map((one) => naming(one, which) as Failure));
  if (!(error instanceof Failure) || error.constructor !== Failure) return error;
  return new Failure(error.code, error.detail, { ...error.extensions, ...which });
}

/** Those that were made before another one failed. Nobody has been told of them yet but by events. */
async function withdraw({ items, events, asSystem, swept, log }: UploadDeps, made: readonly string[]): Promise<void> {
  if (made.length === 0) return;
  const system = asSystem('a form failed: its files that were made before go again');
  try {
    await events.quietly(() => items.deleteMany(system, FILES, made));
    await swept();
  } catch (error) {
    // The first error is the one to be told.
    log.error({ err: error, files: made }, 'files of a form that failed are still there');
  }
}

async function filesCollection({ schema }: UploadDeps): Promise<Collection> {
  const { collections } = await schema.overview();
  return collections.get(FILES) as Collection;
}
