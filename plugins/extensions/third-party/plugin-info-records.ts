import { basename } from 'node:path';
import type { BootFailure } from '#kernel';
import type { ReasonCode } from '../extension-types.ts';
import type { ExtensionRow, FailureReasonRedactor } from '../records/info-record.ts';
import { hashPluginFolderToId } from './folders.ts';
import type { ThirdPartyPluginRecord } from './plugins.ts';

/** Reason codes in `GET /extensions`, by the phase that failed. */
const CODES: Partial<Record<BootFailure['phase'], ReasonCode>> = {
  discover: 'DISCOVERY_FAILED',
  validate: 'MANIFEST_INVALID',
  grant: 'CONSENT_REQUIRED',
};

/** Third-party plugins as `GET /extensions` lists them, beside the extensions. */
export const toThirdPartyPluginRows = (
  records: readonly ThirdPartyPluginRecord[],
  toReason: FailureReasonRedactor,
): readonly ExtensionRow[] =>
  records.map(({ name, version, folder, status, failure }) => ({
    extension: {
      id: hashPluginFolderToId(folder),
      folder,
      // Without a readable name in the manifest, the failure has the folder's path as name.
      name: name === folder ? basename(folder) : name,
      local: true,
      type: 'plugin',
      ...(version === undefined ? {} : { version }),
      files: {},
      revision: '',
    },
    status,
    ...(failure === undefined ? {} : { reason: toReason(asCodeAndDetail(failure), false) }),
  }));

const asCodeAndDetail = ({ phase, message }: BootFailure) => ({
  code: CODES[phase] ?? 'REGISTRATION_FAILED',
  detail: message,
});
