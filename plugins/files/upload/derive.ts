import type { Payload } from '../../items/contract.ts';
import type { Inspected } from '../../media/contract.ts';
import type { FilesConfig } from '../config.ts';
import { typeByName } from '../names/type.ts';
import { captions, keptMetadata } from './metadata.ts';
import type { Plan } from './plan.ts';
import type { Received } from './receive.ts';

const UNKNOWN_TYPE = 'application/octet-stream';

/** The MIME type of the row: as declared, else by content, else by name. */
export const typeOf = ({ declared, name }: Pick<Plan, 'declared' | 'name'>, found: Inspected): string =>
  declared?.type ?? found.type ?? typeByName(name) ?? UNKNOWN_TYPE;

/** What the bytes tell: all of it, so that nothing of the bytes before them remains. */
export const derived = (
  { declared }: Pick<Plan, 'declared'>,
  { size }: Pick<Received, 'size'>,
  found: Inspected,
  config: Pick<FilesConfig, 'FILE_METADATA_ALLOW_LIST'>,
): Payload => ({
  filesize: size,
  detected_type: found.type ?? null,
  charset: declared?.charset ?? null,
  width: found.width ?? null,
  height: found.height ?? null,
  duration: found.duration ?? null,
  metadata: keptMetadata(found.metadata, config.FILE_METADATA_ALLOW_LIST),
  uploaded_on: new Date().toISOString(),
});

/** Captions of the picture for what neither the sender nor his permission says. */
export function captionsFor(isOpen: (field: string) => boolean, found: Inspected): Payload {
  return Object.fromEntries(Object.entries(captions(found)).filter(([name]) => isOpen(name)));
}
