import { service } from '#kernel';

/** What bytes are and say of themselves, whatever they are called. Members that are not known are left out. */
export interface Inspected {
  /** MIME type by content. */
  readonly type?: string;
  /** Pixels as an image is seen: its orientation applied. Of one page. */
  readonly width?: number;
  readonly height?: number;
  /** Milliseconds, of sound and moving pictures. */
  readonly duration?: number;
  /** By group (`ifd0`, `exif`, `gps`, `iptc`, `xmp`, `icc`) and name, all that was found: JSON values only. */
  readonly metadata?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Formats an image can be made into. */
export const IMAGE_FORMATS = ['jpeg', 'png', 'webp', 'tiff', 'avif', 'gif'] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

/** One step of a transformation: a method of sharp and its arguments, JSON values. */
export type ImageOperation = readonly [name: string, ...args: unknown[]];

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
  /** Pixels of the largest side of the source, and of what is made. */
  readonly maxSource: number;
  readonly maxResult: number;
  /** How broken an image may be (sharp's `failOn`). */
  readonly failOn: 'none' | 'truncated' | 'error' | 'warning';
  /** Milliseconds of work; waiting for a turn is not counted. */
  readonly timeout: number;
}

export interface Made {
  readonly width: number;
  readonly height: number;
  /** Bytes. */
  readonly size: number;
}

/**
 * `unsupported`: no image, or of a kind that is not transformed. `damaged`: cannot be read to its end. `tooLarge`: above
 * `maxSource` or `maxResult`. `invalid`: an operation was given what it cannot take. `timeout`: not ready in time. `broken`: the
 * process that works on it ended.
 */
export type MediaReason = 'unsupported' | 'damaged' | 'tooLarge' | 'invalid' | 'timeout' | 'broken';

export class MediaError extends Error {
  readonly reason: MediaReason;

  /** `message` may be shown: it has no path in it. */
  constructor(reason: MediaReason, message: string) {
    super(message);
    this.name = 'MediaError';
    this.reason = reason;
  }
}

/**
 * Looks into files and makes images, in processes of its own: strangers' bytes meet the decoders there, a crash or a hang of
 * one ends that process and not the service, and the event loop stays free.
 */
export interface Media {
  /** Never fails for what the file is: the less is understood, the less is answered. `declared` is what the sender said. */
  inspect(path: string, declared?: string): Promise<Inspected>;
  /** Writes what is made of the image at `source` to a new file at `target`. Rejects with a MediaError. */
  transform(source: string, target: string, plan: ImagePlan): Promise<Made>;
  /** Jobs running or waiting for their turn in this process. */
  readonly pending: number;
}

export const media = service<Media>('media', { version: '1.0.0' });
