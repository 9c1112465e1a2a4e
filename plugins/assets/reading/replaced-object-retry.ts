import { type Caller, Failure } from '#kernel';
import type { FileRecord } from '../variant.ts';
import type { FindReadableFile } from './readable-file.ts';

/** How often one request reads the record of its file again because the object was replaced meanwhile. */
const MAX_REREADS = 5;

/** Finds a file and opens it by `open`, again where its bytes were replaced in between. @throws FORBIDDEN, and what `open` throws */
export async function withReadableFile<T>(
  findReadable: FindReadableFile,
  caller: Caller,
  id: string,
  open: (file: FileRecord) => Promise<T>,
): Promise<T> {
  let file = await findReadable(caller, id);
  for (let left = MAX_REREADS; ; left--) {
    try {
      return await open(file);
    } catch (error) {
      if (left === 0 || !(error instanceof Failure) || error.code !== 'FORBIDDEN') throw error;
      const other = await findReadable.findReplacement(caller, file);
      if (!other) throw error;
      file = other;
    }
  }
}
