import { builtinModules } from 'node:module';
import type { ReasonCode } from '../../extensions/contract.ts';

/** The SDK: the only package that confined code may import at run time. */
export const CONFINED_SDK = 'tenon/extension';

/** Whether this is the SDK, by the name in the installed package or by that of the sources. */
export const isConfinedSdk = (specifier: string): boolean =>
  specifier === CONFINED_SDK || specifier === '@tenon/extension-sdk';

/** The SDK's exports for confined code: identity functions. */
export const CONFINED_SDK_EXPORTS = ['defineJsonEndpoint', 'defineFlowOperation', 'defineEventHook'] as const;

/** Why a module may not be imported: a reason code and what to do instead. */
export interface ImportRefusalReason {
  readonly code: ReasonCode;
  readonly advice: string;
}

const toSet = (names: string): ReadonlySet<string> => new Set(names.split(' '));

const FILES = toSet('fs fs-extra graceful-fs');
const NETWORK = toSet(
  'http https http2 net tls dgram dns inspector axios got ky needle undici superagent request wretch ofetch phin bent ' +
    'node-fetch cross-fetch isomorphic-fetch isomorphic-unfetch unfetch node-fetch-native follow-redirects ws ' +
    'socket.io-client request-promise request-promise-native make-fetch-happen',
);
const PROCESSES = toSet('child_process cluster execa cross-spawn shelljs zx');
const ENVIRONMENT = toSet('process dotenv');
const BUILT_IN = new Set(builtinModules.map((name) => name.replace(/^node:/, '').split('/')[0] as string));
/** SDKs for code with full authority, of any publisher. */
const FULL_KIT = /^@[^/]+\/extensions?-(?:sdk|kit)(?:\/|$)/;
const INTERNAL = /^(?:@tenon\/|tenon(?:\/|$)|@service\/(?!extension-)|#kernel(?:\/|$))/;

const advice: Partial<Record<ReasonCode, string>> = {
  USES_NODE_BUILTIN: 'use the language itself and what "host" offers, or declare no confined runtime',
  USES_RAW_FS: 'confined code has no files, so keep data in items or settings',
  USES_RAW_NETWORK: 'declare the capability "request" and use host.request.send',
  USES_CHILD_PROCESS: 'confined code starts no processes, so do the work in JavaScript or ask another service',
  USES_RAW_ENV: 'declare settings and use host.settings.get',
  USES_INTERNAL_IMPORT: 'use what the context of a handler offers as "host"',
  USES_LEGACY_SDK_RUNTIME_IMPORT: `import ${CONFINED_SDK_EXPORTS.join(', ')} from "${CONFINED_SDK}", types from anywhere`,
};

const createRefusal = (code: ReasonCode): ImportRefusalReason => ({ code, advice: advice[code] as string });

/** Answers why a module may not be imported; undefined if it may, as the SDK may. */
export function findImportRefusalReason(specifier: string): ImportRefusalReason | undefined {
  const name = specifier.replace(/^node:/, '');
  const isScoped = name.startsWith('@');
  const root = name.split('/', isScoped ? 2 : 1).join('/');
  if (FILES.has(root)) return createRefusal('USES_RAW_FS');
  if (NETWORK.has(root)) return createRefusal('USES_RAW_NETWORK');
  if (PROCESSES.has(root)) return createRefusal('USES_CHILD_PROCESS');
  if (ENVIRONMENT.has(root)) return createRefusal('USES_RAW_ENV');
  if (specifier.startsWith('node:') || BUILT_IN.has(root)) return createRefusal('USES_NODE_BUILTIN');
  if (isConfinedSdk(specifier)) return undefined;
  if (FULL_KIT.test(specifier)) return createRefusal('USES_LEGACY_SDK_RUNTIME_IMPORT');
  if (INTERNAL.test(specifier)) return createRefusal('USES_INTERNAL_IMPORT');
  return undefined;
}

export const findReasonCodeAdvice = (code: ReasonCode): string => advice[code] ?? '';

export const isRelativeImport = (specifier: string): boolean => /^\.{1,2}(?:\/|$)/.test(specifier);
