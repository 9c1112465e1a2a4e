import { type Caller, service } from '#kernel';
import type { Payload } from '../items/contract.ts';

/** Name of the collection that has a row for each file. */
export const FILES = 'platform_files';

/** A file on its way in: its bytes and what the sender says of it. */
export interface Incoming {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** As the sender calls it, with or without folders before it; undefined where it has no name. */
  readonly filename?: string | undefined;
  /** The declared MIME type; undefined where the sender said nothing. */
  readonly type?: string | undefined;
  /** What the sender says of the file: `title`, `folder`, `storage`, custom fields, … */
  readonly metadata: Payload;
}

/** What the plugin that takes a file decides, beside the sender. */
export interface UploadOptions {
  /** The key of the new row; made up without it. */
  readonly id?: string;
  /** Bytes of the longest file that is taken, beside FILES_MAX_UPLOAD_SIZE. */
  readonly maxBytes?: number;
}

/**
 * Takes bytes in: from a form, another server, a resumable upload, an export. The caller's permissions hold. Either the row with
 * its bytes is there afterwards or neither; the janitor removes what a crash leaves. Not inside a unit of work: bytes may take long.
 */
export interface Files {
  /**
   * Makes a file; answers its key.
   * @throws FORBIDDEN before a byte is read where the caller may not create files, INVALID_PAYLOAD, FAILED_VALIDATION,
   * CONTENT_TOO_LARGE, SERVICE_UNAVAILABLE where the storage fails, and what `bytes` throws.
   */
  create(caller: Caller, incoming: Incoming, options?: UploadOptions): Promise<string>;
  /**
   * Puts other bytes into a file (specification, "Files endpoints", 5); answers its key.
   * @throws the errors of `create`; FORBIDDEN where the caller may not update the file or it does not exist.
   */
  replace(caller: Caller, id: string, incoming: Incoming, options?: UploadOptions): Promise<string>;
  /**
   * What `create` would refuse before it reads a byte; with an `id`, what `replace` would. `size` in bytes.
   * @throws FORBIDDEN, INVALID_PAYLOAD, FAILED_VALIDATION, CONTENT_TOO_LARGE.
   */
  check(caller: Caller, about: Omit<Incoming, 'bytes'> & { readonly size?: number }, id?: string): Promise<void>;
}

/** For plugins that receive bytes: `tus`, and routes of `files` itself. */
export const files = service<Files>('files', { version: '1.0.0', callers: { create: 0, replace: 0, check: 0 } });
