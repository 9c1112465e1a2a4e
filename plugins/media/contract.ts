import { service } from '#kernel';

/** What the content of a file shows, whatever its name says. Unknown members are left out. */
export interface Inspected {
  /** MIME type by content. */
  readonly type?: string;
  /** Pixels as an image is seen: its orientation applied. Of one page. */
  readonly width?: number;
  /** Pixels, like `width`. */
  readonly height?: number;
  /** Milliseconds, of sound and moving pictures. */
  readonly duration?: number;
  /** By group (`ifd0`, `exif`, `gps`, `iptc`, `xmp`, `icc`) and name, all that was found: JSON values only. */
  readonly metadata?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Formats an image can be made into. */
export const IMAGE_FORMATS = ['jpeg', 'png', 'webp', 'tiff', 'avif', 'gif'] as const;

/** One of `IMAGE_FORMATS`. */
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

/** One step of a transformation: a method of sharp and its arguments, JSON values. */
export type ImageOperation = readonly [name: string, ...args: unknown[]];

/** How one image is made of another. */
export interface ImagePlan {
  /** In order. */
  readonly operations: readonly ImageOperation[];
  readonly format: ImageFormat;
  /** 1 to 100; the format's own default without it. */
  readonly quality?: number;
  /** All frames of a moving image, where the format made can have several. */
  readonly animated: boolean;
  /** Applies the orientation the image says it has, before anything else. */
  readonly orient: boolean;
  /** Pixels of the largest side of the source. */
  readonly maxSource: number;
  /** Pixels of the largest side of the result. */
  readonly maxResult: number;
  /** How broken an image may be (sharp's `failOn`). */
  readonly failOn: 'none' | 'truncated' | 'error' | 'warning';
  /** Milliseconds of work; waiting for a turn is not counted. */
  readonly timeout: number;
}

/** The image that was written: sides in pixels. */
export interface Made {
  readonly width: number;
  readonly height: number;
  /** Bytes. */
  readonly size: number;
}

/**
 * Why an image is not made. `unsupported`: no image, or of a kind that is not transformed. `damaged`: cannot be read to its end.
 * `tooLarge`: above `maxSource` or `maxResult`. `invalid`: an operation has arguments it cannot take. `timeout`: not ready in time.
 * `broken`: the process that works on it ended.
 */
export type MediaReason = 'unsupported' | 'damaged' | 'tooLarge' | 'invalid' | 'timeout' | 'broken';

/**
 * Inspects files and makes images, in processes of its own: hostile bytes meet the decoders there, a crash or a hang ends one
 * process and not the service, and the event loop stays free. Provided by `media`.
 */
export interface Media {
  /**
   * What is known of the file at `path`. Never fails for its content: unknown members are absent. `declared`: MIME type as sent.
   */
  inspect(path: string, declared?: string): Promise<Inspected>;
  /**
   * Writes what is made of the image at `source` to a new file at `target`.
   * @throws MediaError with a `MediaReason`.
   */
  transform(source: string, target: string, plan: ImagePlan): Promise<Made>;
  /** Jobs running or waiting for their turn in this process. */
  readonly pending: number;
}

/** For `files`, which inspects what it stores, and `assets`, which transforms it. */
export const media = service<Media>('media', { version: '1.0.0' });
