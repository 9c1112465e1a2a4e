import type { ImageTransformPlan } from '../media/contract.ts';
import type { OpenedStorageObject } from '../storage/contract.ts';

/** Objects up to this many bytes are read and sent as one buffer: a stream costs more than their bytes. */
export const MAX_BUFFERED_BYTES = 256 * 1024;

/** A whole object: in memory, or open for reading. */
export type WholeStoredObject =
  | { readonly size: number; readonly buffer: Buffer }
  | (OpenedStorageObject & { readonly buffer?: undefined });

/** The columns of a file that the asset routes need. */
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
  /** Milliseconds; null without a duration. */
  readonly duration: number | null;
  readonly modified_on: Date | null;
  readonly focal_point_x: number | null;
  readonly focal_point_y: number | null;
}

/** An image that is made of a file for a request. */
export interface ImageVariant {
  /** Object name in the location of the file; the same for the same bytes, so it serves as ETag. */
  readonly name: string;
  /** MIME type. */
  readonly type: string;
  /** Extension of the download name, without the dot. */
  readonly extension: string;
  readonly plan: ImageTransformPlan;
}

/** What a request for an asset gets: a variant, or the file unchanged. */
export interface ImageVariantChoice {
  /** Undefined: the bytes of the file, unchanged. */
  readonly variant?: ImageVariant;
  /** Whether the choice depends on the request header `Accept`. */
  readonly varies: boolean;
}

export interface ImageVariantService {
  /**
   * Chooses the variant for a query (specification, "Asset endpoints", transform parameters and policy). Reads nothing from storage.
   * @throws INVALID_QUERY for invalid parameters and for those that the policy does not allow.
   */
  choose(
    file: FileRecord,
    query: Readonly<Record<string, unknown>>,
    accept: string | undefined,
  ): Promise<ImageVariantChoice>;
  /**
   * Opens a variant in storage, and makes it first if needed. Undefined if the bytes turn out to be no image, whatever the record
   * says: the file is then served unchanged.
   * @throws ILLEGAL_ASSET_TRANSFORMATION; SERVICE_UNAVAILABLE if too many images are being made; FORBIDDEN if the object is gone.
   */
  open(file: FileRecord, variant: ImageVariant): Promise<WholeStoredObject | undefined>;
  /** Resolves when the temporary files and outdated variants of all made images are removed; responses do not wait for it. */
  waitForCleanUp(): Promise<void>;
}
