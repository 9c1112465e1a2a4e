import type { ImagePlan } from '../media/contract.ts';
import type { Opened } from '../storage/contract.ts';

/** Bytes of objects up to which they are read at once and sent from one buffer: a stream costs more than its bytes. */
export const SMALL = 256 * 1024;

/** A whole object: in memory, or open. */
export type Whole = { readonly size: number; readonly buffer: Buffer } | (Opened & { readonly buffer?: undefined });

/** What the asset routes know of a file. */
export interface FileRecord {
  readonly id: string;
  readonly storage: string;
  readonly filename_disk: string;
  readonly filename_download: string;
  readonly type: string | null;
  readonly charset: string | null;
  readonly detected_type: string | null;
  readonly filesize: number | null;
  readonly width: number | null;
  readonly height: number | null;
  /** Milliseconds; null of what does not move. */
  readonly duration: number | null;
  readonly modified_on: Date | null;
  readonly focal_point_x: number | null;
  readonly focal_point_y: number | null;
}

/** A variant that a request asks for. */
export interface Variant {
  /** Of the object in the file's location; the same for the same bytes, so it serves as an ETag. */
  readonly name: string;
  /** MIME type. */
  readonly type: string;
  /** Of the name under which it is downloaded, without the dot. */
  readonly extension: string;
  /** How it is made. */
  readonly plan: ImagePlan;
}

export interface Chosen {
  /** Undefined: the bytes as they are. */
  readonly variant?: Variant;
  /** The choice depends on `Accept`. */
  readonly varies: boolean;
}

export interface Variants {
  /**
   * What the query asks to be made of the file (specification, "Asset endpoints", transform parameters and policy). INVALID_QUERY
   * for what makes no sense or the policy does not allow. Cheap: nothing is read from storage.
   */
  choose(file: FileRecord, query: Readonly<Record<string, unknown>>, accept: string | undefined): Promise<Chosen>;
  /**
   * From storage, made first where it is not there yet. Undefined where the bytes turn out to be no image that can be
   * transformed, whatever the record says: they are served as they are. ILLEGAL_ASSET_TRANSFORMATION; SERVICE_UNAVAILABLE where
   * too much is being made; FORBIDDEN where the file's own bytes are gone.
   */
  open(file: FileRecord, variant: Variant): Promise<Whole | undefined>;
  /** Resolves when nothing is left to do after what was made: answers do not wait for that. */
  tidied(): Promise<void>;
}
