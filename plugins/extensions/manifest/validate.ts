import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { API_VERSION, findJsonSchemaProblems, VERSION } from '#kernel';
import type { PackageGrantBroker } from '../../broker/contract.ts';
import type { ExtensionSettings } from '../../extension-settings/contract.ts';
import {
  APP_EXTENSION_TYPES,
  EXTENSION_TYPES,
  type ExtensionManifest,
  LoadFailure,
  SERVER_EXTENSION_TYPES,
} from '../extension-types.ts';
import type { ExtensionsConfig } from '../settings.ts';
import { capabilityProblems } from './capabilities.ts';
import { findEndpointSchemaProblems } from './endpoint-schemas.ts';
import { BUNDLE_ENTRY_SCHEMAS, MANIFEST_SCHEMAS, PACKAGE_JSON_SCHEMA } from './schema.ts';

/** What the validation of a manifest needs: known grants, the shape of settings, and how strict the host check is. */
export interface ManifestDeps {
  readonly subjects: Pick<PackageGrantBroker, 'findProblems'>;
  readonly settings: Pick<ExtensionSettings, 'parseDeclaration'>;
  readonly config: Pick<ExtensionsConfig, 'EXTENSIONS_HOST_CHECK'>;
}

export interface ValidatedPackage {
  readonly name: string;
  readonly version: string;
  readonly manifest: ExtensionManifest;
  /** A problem for the log, of a package that loads all the same. */
  readonly warning?: string;
}

type Raw = Readonly<Record<string, unknown>>;

/** Keys of a manifest that are valid for confined code only. */
const CONFINED = ['capabilities', 'events', 'optionDelivery', 'stateful', 'input', 'output'] as const;
const MAX_PROBLEMS = 3;

/**
 * Validates a parsed package.json (conventions, "Manifest").
 * @throws LoadFailure MANIFEST_INVALID that names what to correct.
 */
export function validatePackageManifest(parsed: unknown, deps: ManifestDeps): ValidatedPackage {
  assertNoProblems(findJsonSchemaProblems(PACKAGE_JSON_SCHEMA, parsed));
  const { name, version, 'service:extension': raw } = parsed as Raw & { name: string; version: string };
  const manifest = raw as Raw;
  if (!(EXTENSION_TYPES as readonly unknown[]).includes(manifest.type))
    assertNoProblems([`/type must be one of ${EXTENSION_TYPES.join(', ')}`]);
  const type = manifest.type as string;
  assertNoProblems(findJsonSchemaProblems(selectSchema(MANIFEST_SCHEMAS, type), manifest));
  assertNoProblems([
    ...declarationProblems(manifest, deps),
    ...(type === 'bundle' ? bundleProblems(manifest, deps) : []),
  ]);
  return { name, version, manifest: raw as ExtensionManifest, ...checkHost(manifest, deps) };
}

function declarationProblems(manifest: Raw, { subjects, settings }: ManifestDeps): readonly string[] {
  const found: string[] = [];
  if (manifest.runtime === undefined) {
    for (const key of CONFINED) {
      if (manifest[key] !== undefined) found.push(`/${key} needs "runtime": "confined-server" beside it`);
    }
  } else if (manifest.type !== 'bundle' && manifest.source === undefined) {
    found.push('/source is required with the confined runtime');
  }
  if (manifest.capabilities !== undefined)
    found.push(...capabilityProblems(manifest.capabilities as Raw, '/capabilities', subjects));
  found.push(...findEndpointSchemaProblems(manifest, ''));
  if (manifest.settings !== undefined) found.push(...settings.parseDeclaration(manifest.settings).problems);
  return found;
}

/**
 * Problems of the entries of a bundle. The gate, not this function, refuses two server entries of one name and hooks without
 * events.
 */
function bundleProblems(manifest: Raw, { subjects }: ManifestDeps): readonly string[] {
  return (manifest.entries as readonly Raw[]).flatMap((entry, at) => {
    const where = `/entries/${at}`;
    const { type } = entry;
    if (![...APP_EXTENSION_TYPES, ...SERVER_EXTENSION_TYPES].includes(type as never))
      return [`${where}/type is no type of an entry`];
    const wrong = findJsonSchemaProblems(selectSchema(BUNDLE_ENTRY_SCHEMAS, type as string), entry, where);
    if (wrong.length > 0) return wrong;
    const intent = CONFINED.find((key) => entry[key] !== undefined);
    if (intent !== undefined && manifest.runtime === undefined)
      return [`${where}/${intent} needs "runtime": "confined-server" at the bundle's root`];
    return [
      ...findEndpointSchemaProblems(entry, where),
      ...(entry.capabilities === undefined
        ? []
        : capabilityProblems(entry.capabilities as Raw, `${where}/capabilities`, subjects)),
    ];
  });
}

/**
 * Whether the range of a manifest's `host` includes the API version, which packages are written for, or the service's version,
 * which admins see.
 */
const isForThisHost = (range: string): boolean => satisfies(API_VERSION, range) || satisfies(VERSION, range);

/**
 * Packages with full authority load on another host unless the check is strict: old ones were written before the range
 * existed.
 */
function checkHost({ host, runtime }: Raw, { config }: ManifestDeps): { readonly warning?: string } {
  const range = host as string;
  if (validRange(range) === null) assertNoProblems([`/host "${range}" is not a range of versions`]);
  if (isForThisHost(range)) return {};
  const what = `it was written for host ${range}, and this is ${API_VERSION}`;
  if (runtime !== undefined || config.EXTENSIONS_HOST_CHECK === 'strict') {
    throw new LoadFailure('MANIFEST_INVALID', `${what}. Install a version of the package for this host.`);
  }
  return { warning: what };
}

const selectSchema = <S extends Record<string, object>>(schemas: S, type: string): object =>
  (Object.hasOwn(schemas, type) ? schemas[type] : schemas.app) as object;

/**
 * Throws MANIFEST_INVALID with the first problems, if any. Writes pointers such as `/entries/0/type` as `entries.0.type`, because
 * redaction takes text with slashes for a path.
 */
function assertNoProblems(found: readonly string[]): void {
  if (found.length === 0) return;
  const shown = [...new Set(found)].slice(0, MAX_PROBLEMS).map((one) => {
    const [pointer = '', ...rest] = one.split(' ');
    return [pointer.replaceAll('/', '.').replace(/^\./, '') || 'the manifest', ...rest].join(' ');
  });
  const more = found.length > MAX_PROBLEMS ? `, and ${found.length - MAX_PROBLEMS} more` : '';
  throw new LoadFailure('MANIFEST_INVALID', `${shown.join('; ')}${more}. Correct package.json.`);
}
