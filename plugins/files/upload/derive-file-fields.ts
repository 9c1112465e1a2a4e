import type { Payload } from '../../items/contract.ts';
import type { FileInspection } from '../../media/contract.ts';
import type { FilesConfig } from '../config.ts';
import { guessMimeTypeByFilename } from '../names/mime-type.ts';
import { extractIptcCaptions, filterAllowedFileMetadata } from './metadata-and-caption-fields.ts';
import type { UploadPlan } from './plan.ts';
import type { ReceivedBytesSummary } from './receive.ts';

const UNKNOWN_TYPE = 'application/octet-stream';

/** The MIME type of the row: as declared, else by content, else by name. */
export const resolveFileType = (
  { declared, name }: Pick<UploadPlan, 'declared' | 'name'>,
  inspection: FileInspection,
): string => declared?.type ?? inspection.type ?? guessMimeTypeByFilename(name) ?? UNKNOWN_TYPE;

/** All fields that come from the bytes, null included, so that no value of replaced bytes remains. */
export const deriveFileFields = (
  { declared }: Pick<UploadPlan, 'declared'>,
  { size }: Pick<ReceivedBytesSummary, 'size'>,
  inspection: FileInspection,
  config: Pick<FilesConfig, 'FILE_METADATA_ALLOW_LIST'>,
): Payload => ({
  filesize: size,
  detected_type: inspection.type ?? null,
  charset: declared?.charset ?? null,
  width: inspection.width ?? null,
  height: inspection.height ?? null,
  duration: inspection.duration ?? null,
  metadata: filterAllowedFileMetadata(inspection.metadata, config.FILE_METADATA_ALLOW_LIST),
  uploaded_on: new Date().toISOString(),
});

/** Captions of the image for fields that neither the sender nor a preset sets. */
export function extractUnsetCaptionFields(isUnset: (field: string) => boolean, inspection: FileInspection): Payload {
  return Object.fromEntries(Object.entries(extractIptcCaptions(inspection)).filter(([name]) => isUnset(name)));
}
