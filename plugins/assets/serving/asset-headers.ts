import { addPolicySources, allowsFrames, type PolicyAdditions } from '../../http/library.ts';
import type { FileRecord, ImageVariant } from '../variant.ts';
import type { HttpValidators } from './conditional-request.ts';
import { renderContentDisposition, replaceExtension } from './content-disposition.ts';
import { contentSecurityPolicyFor, toContentType } from './content-security-policy.ts';

/** Headers of a response with the bytes of a file or variant, whole or in part. */
export interface AssetHeaders extends HttpValidators {
  readonly type: string;
  /** Headers that every response has, also a 304 without bytes. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** Maximum number of entries in the cache of headers, over all file records. */
const MAX_REMEMBERED = 10_000;
let remembered = new WeakMap<FileRecord, Map<string, AssetHeaders>>();
let count = 0;

/** `additions`: sources that an admin adds to the policies of files; the same at each call for one record. */
export function assetHeadersFor(
  file: FileRecord,
  variant: ImageVariant | undefined,
  download: boolean,
  additions: PolicyAdditions,
): AssetHeaders {
  const key = `${download ? 'download' : ''}/${variant?.name ?? ''}`;
  const existing = remembered.get(file)?.get(key);
  if (existing) return existing;
  if (++count > MAX_REMEMBERED) {
    remembered = new WeakMap();
    count = 1;
  }
  const byKey = remembered.get(file) ?? new Map<string, AssetHeaders>();
  const headers = createAssetHeaders(file, variant, download, additions);
  remembered.set(file, byKey.set(key, headers));
  return headers;
}

function createAssetHeaders(
  file: FileRecord,
  variant: ImageVariant | undefined,
  download: boolean,
  additions: PolicyAdditions,
): AssetHeaders {
  const etag = `"${variant?.name ?? file.filename_disk}"`;
  const modified = file.modified_on === null ? undefined : Math.floor(file.modified_on.getTime() / 1000) * 1000;
  const policy = variant
    ? contentSecurityPolicyFor(variant.type)
    : contentSecurityPolicyFor(file.type, file.detected_type);
  const name = variant ? replaceExtension(file.filename_download, variant.extension) : file.filename_download;
  return {
    etag,
    modified,
    type: variant?.type ?? toContentType(file.type ?? file.detected_type, file.charset),
    fields: [
      ['ETag', etag],
      ...(modified === undefined ? [] : [['Last-Modified', new Date(modified).toUTCString()] as const]),
      ['Accept-Ranges', 'bytes'],
      ['Content-Disposition', renderContentDisposition(download, name)],
      ['Content-Security-Policy', addPolicySources(policy, additions)],
      // Pages of the same origin may embed the file, as the Content-Security-Policy allows too. This header can name no other site.
      ...(allowsFrames(additions) ? [] : [['X-Frame-Options', 'SAMEORIGIN'] as const]),
    ],
  };
}
