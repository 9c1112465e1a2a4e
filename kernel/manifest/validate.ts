import { Ajv, type ErrorObject, type SchemaObject, type ValidateFunction } from 'ajv';
import { satisfies, valid, validRange } from 'semver';
import type { ConfigKey } from '../config/cast.ts';
import { BootFailure } from '../lifecycle/failure.ts';
import { packageSchema } from './schema.ts';

/** The kernel's API version; manifests name the range they were written for. */
export const API_VERSION = '1.0.0';

export interface Manifest {
  readonly type: string;
  readonly path: string;
  readonly host: string;
  readonly provides?: Readonly<Record<string, string>>;
  readonly uses?: Readonly<Record<string, string>>;
  readonly facets?: readonly string[];
  readonly contributes?: Readonly<Record<string, object>>;
  readonly config?: Readonly<Record<string, ConfigKey>>;
  readonly capabilities?: Readonly<Record<string, unknown>>;
}

/** A package.json with a manifest in it. */
export interface PluginPackage {
  readonly name: string;
  readonly version: string;
  readonly manifest: Manifest;
}

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strict: false, verbose: true });
const compiled = new WeakMap<SchemaObject, ValidateFunction>();

/**
 * Problems of a value under a schema, each with its path; empty when it fits. What breaks a pattern, or fits none or several
 * of `oneOf`, is told by the schema's `description`: "must be <description>".
 */
export function problems(schema: SchemaObject, value: unknown, at = ''): readonly string[] {
  let validate = compiled.get(schema);
  if (!validate) {
    validate = ajv.compile(schema);
    compiled.set(schema, validate);
  }
  return validate(value) ? [] : (validate.errors ?? []).filter(isTelling).map((error) => sentence(error, at));
}

/** What branches are there is told once, not branch by branch. */
const isTelling = ({ keyword, schemaPath }: ErrorObject): boolean =>
  keyword !== 'if' && !schemaPath.includes('/oneOf/');

const sentence = (error: ErrorObject, at: string): string => `${at + error.instancePath || '/'} ${whatOf(error)}`;

function whatOf({ keyword, params, message, parentSchema }: ErrorObject): string {
  const about = parentSchema?.description;
  if (keyword === 'additionalProperties') return `${message} "${params.additionalProperty}"`;
  if (keyword === 'enum') return `${message} ${params.allowedValues.join(', ')}`;
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  if ((keyword === 'pattern' || keyword === 'oneOf') && about !== undefined) return `must be ${about}`;
  return message ?? 'is wrong';
}

/** Checks a parsed package.json: shape, version, host range. */
export function validatePackage(parsed: unknown, where: string): PluginPackage {
  const found = problems(packageSchema, parsed);
  if (found.length > 0) {
    throw new BootFailure(where, 'validate', `its package.json is not a valid manifest:\n${found.join('\n')}`, {
      remedy: 'correct the named members under "service:extension"',
    });
  }
  const {
    name,
    version,
    'service:extension': manifest,
  } = parsed as {
    name: string;
    version: string;
    'service:extension': Manifest;
  };
  if (!valid(version)) throw new BootFailure(name, 'validate', `version "${version}" is not a semantic version`);
  if (!validRange(manifest.host) || !satisfies(API_VERSION, manifest.host)) {
    throw new BootFailure(name, 'validate', `it was written for host ${manifest.host}; this is ${API_VERSION}`, {
      remedy: 'install a version of the package for this host',
    });
  }
  return { name, version, manifest };
}
