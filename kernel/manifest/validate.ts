import satisfies from 'semver/functions/satisfies.js';
import valid from 'semver/functions/valid.js';
import validRange from 'semver/ranges/valid.js';
import product from '../../package.json' with { type: 'json' };
import type { ConfigKey } from '../config/cast.ts';
import { BootFailure } from '../lifecycle/boot-failure.ts';
import { pluginPackageJsonSchema } from './schema.ts';
import { findJsonSchemaProblems } from './schema-problems.ts';

/** The running product's version, which admins may see. */
export const VERSION: string = product.version;
/** The kernel's API version; manifests name the range they were written for. */
export const API_VERSION = '1.0.0';

export interface Manifest {
  readonly type: string;
  readonly path: string;
  readonly host: string;
  readonly required?: boolean;
  readonly provides?: Readonly<Record<string, string>>;
  readonly uses?: Readonly<Record<string, string>>;
  readonly facets?: readonly string[];
  readonly contributes?: Readonly<Record<string, { readonly optional?: unknown }>>;
  readonly config?: Readonly<Record<string, ConfigKey>> | { readonly shared?: readonly string[] };
  readonly capabilities?: Readonly<Record<string, unknown>>;
}

/** A package.json with a manifest in it. */
export interface PluginPackage {
  readonly name: string;
  readonly version: string;
  readonly manifest: Manifest;
}

type PackageJson = Omit<PluginPackage, 'manifest'> & { readonly 'service:extension': Manifest };

/** Checks a parsed package.json: shape, version, host range. @throws BootFailure */
export function validatePluginPackageJson(parsed: unknown, where: string): PluginPackage {
  const found = findJsonSchemaProblems(pluginPackageJsonSchema, parsed);
  if (found.length > 0) {
    const reason = `its package.json is not a valid manifest:\n${found.join('\n')}`;
    throw new BootFailure(where, 'validate', reason, { remedy: 'correct the named members under "service:extension"' });
  }
  const { name, version, 'service:extension': manifest } = parsed as PackageJson;
  if (!valid(version)) throw new BootFailure(name, 'validate', `version "${version}" is not a semantic version`);
  if (!validRange(manifest.host) || !satisfies(API_VERSION, manifest.host)) {
    const reason = `it was written for host ${manifest.host}; this is ${API_VERSION}`;
    throw new BootFailure(name, 'validate', reason, { remedy: 'install a version of the package for this host' });
  }
  return { name, version, manifest };
}
