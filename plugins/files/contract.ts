import { type Caller, service } from '#kernel';
import type { Payload } from '../items/contract.ts';

export const FILES = 'platform_files';

export interface Incoming {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** As the sender calls it, with or without folders before it; undefined where it has no name. */
  readonly filename?: string | undefined;
  /** The declared MIME type; undefined where the sender said nothing. */
  readonly type?: string | undefined;
  /** What the sender says of the file: `title`, `folder`, `storage`, custom fields, … */
  readonly metadata: Payload;
}

export interface UploadOptions {
  /** The key of the new row; made up without it. */
  readonly id?: string;
  /** Bytes of the longest file that is taken, beside FILES_MAX_UPLOAD_SIZE. */
  readonly maxBytes?: number;
}

/**
 * Bytes in, for whoever has them: a form, another server, a resumable upload, an export. The caller's permissions hold. Either
 * the row with its bytes is there afterwards or neither; what a crash leaves is put in order by the janitor.
 */
export interface Files {
  /** FORBIDDEN before a byte is read where the caller may not create files. Answers the key. */
  create(caller: Caller, incoming: Incoming, options?: UploadOptions): Promise<string>;
  /** Puts other bytes into a file (specification, "Files endpoints", 5). */
  replace(caller: Caller, id: string, incoming: Incoming, options?: UploadOptions): Promise<string>;
  /**
   * FORBIDDEN, INVALID_PAYLOAD or CONTENT_TOO_LARGE where `create` (with an `id` of a row that is there: `replace`) would refuse
   * such a file before it reads any of it.
   */
  check(caller: Caller, about: Omit<Incoming, 'bytes'> & { readonly size?: number }, id?: string): Promise<void>;
}

export const files = service<Files>('files', { version: '1.0.0' });

/** Texts by the names of fields, as forms have them, as values of a payload; INVALID_PAYLOAD for JSON that is none. */
export { payloadOf } from './multipart/values.ts';
