import { service } from '#kernel';

/** The result of an inspection, by content alone. Unknown members are left out. */
export interface FileInspection {
  /** MIME type by content. */
  readonly type?: string;
  /** Pixels of one page, with the orientation applied. */
  readonly width?: number;
  /** Pixels, like `width`. */
  readonly height?: number;
  /** Milliseconds of sound, video or an animation. */
  readonly duration?: number;
  /** All metadata that was found, by group (`ifd0`, `exif`, `gps`, `iptc`, `xmp`, `icc`) and name: JSON values only. */
  readonly metadata?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Formats an image can be made into. */
export const IMAGE_FORMATS = ['jpeg', 'png', 'webp', 'tiff', 'avif', 'gif'] as const;

/** One of `IMAGE_FORMATS`. */
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

/** One step of a transformation: a method of sharp and its arguments, JSON values. */
export type ImageOperation = readonly [name: string, ...args: unknown[]];

/** How an image is transformed. */
export interface ImageTransformPlan {
  /** Methods of sharp, applied in this order. */
  readonly operations: readonly ImageOperation[];
  readonly format: ImageFormat;
  /** 1 to 100; the format's own default without it. */
  readonly quality?: number;
  /** Keeps all frames of an animation, if the result format can have several. */
  readonly animated: boolean;
  /** Applies the EXIF orientation before anything else. */
  readonly orient: boolean;
  /** Pixels of the longest side of the source. */
  readonly maxSource: number;
  /** Pixels of the longest side of the result. */
  readonly maxResult: number;
  /** The first severity of fault with which an image counts as damaged (sharp's `failOn`). */
  readonly failOn: 'none' | 'truncated' | 'error' | 'warning';
  /** Milliseconds of work; time in the queue does not count. */
  readonly timeout: number;
}

/** The image that was written: sides in pixels. */
export interface ImageTransformResult {
  readonly width: number;
  readonly height: number;
  /** Bytes. */
  readonly size: number;
}

/**
 * Why an image is not transformed. `unsupported`: no image, or a kind that is not transformed. `damaged`: cannot be
 * decoded to its end. `tooLarge`: above `maxSource` or `maxResult`. `invalid`: an operation has invalid arguments.
 * `timeout`: not done in time. `broken`: the process that works on the image ended.
 */
export type MediaFailureReason = 'unsupported' | 'damaged' | 'tooLarge' | 'invalid' | 'timeout' | 'broken';

/**
 * Inspects files and transforms images in child processes: hostile bytes reach decoders only there, a crash or hang ends one child
 * process and not the service, and the event loop stays free. Provided by `media`.
 */
export interface MediaService {
  /**
   * Inspects the file at `path`. Never rejects because of its content: unknown members are absent. `declared`: MIME type as sent.
   */
  inspect(path: string, declared?: string): Promise<FileInspection>;
  /**
   * Transforms the image at `source` into a new file at `target`.
   * @throws MediaError with a `MediaFailureReason`.
   */
  transform(source: string, target: string, plan: ImageTransformPlan): Promise<ImageTransformResult>;
  /** Jobs of this process that run or wait in the queue. */
  readonly pending: number;
}

/** The service for `files`, which inspects what it stores, and `assets`, which transforms images. */
export const media = service<MediaService>('media', { version: '1.0.0' });
