import { CONCEALED_VALUE_MASK } from '../../access/contract.ts';
import type { FlowOperationKind } from '../contract.ts';
import { isSecretKey } from '../run/redaction.ts';

type Options = Readonly<Record<string, unknown>>;
type SecretKind = Pick<FlowOperationKind, 'secretOptions' | 'secretHeaders'>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is left of a text that only refers to data of the run, such as `Bearer {{ $env.TOKEN }}`: nothing that is a secret. */
const REFERENCE = /^\s*(?:(?:bearer|basic|token)\s+)?(?:\{\{[^{}]+\}\}\s*)+$/i;

/** Whether the value of a secret option has to be kept apart: not a reference to data of the run, and not nothing. */
const isKept = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(typeof value === 'string' && REFERENCE.test(value));

/** Changes one secret; `path` is `<option>`, or `<option>/<header>` with `/<n>` for a further header of one name. */
type ReplaceSecret = (path: string, value: unknown) => unknown;

/** A copy of the options in which `replace` stands in for each value of a secret option, and of the headers that hold secrets. */
export function mapSecretOptions(kinds: readonly SecretKind[], options: Options, replace: ReplaceSecret): Options {
  const mapped: Record<string, unknown> = { ...options };
  for (const name of new Set(kinds.flatMap(({ secretOptions = [] }) => secretOptions)))
    if (Object.hasOwn(mapped, name)) mapped[name] = replace(name, mapped[name]);
  for (const name of new Set(kinds.flatMap(({ secretHeaders }) => secretHeaders ?? [])))
    if (Object.hasOwn(mapped, name)) mapped[name] = mapHeaders(name, mapped[name], replace);
  return mapped;
}

/** Headers are a list of `{ header, value }`, or an object. */
function mapHeaders(option: string, headers: unknown, replace: ReplaceSecret): unknown {
  const seen = new Map<string, number>();
  const mapOne = (header: string, value: unknown): unknown => {
    if (!isSecretKey(header)) return value;
    const name = header.toLowerCase().trim();
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return replace(`${option}/${name}${before === 0 ? '' : `/${before}`}`, value);
  };
  if (Array.isArray(headers))
    return headers.map((one) =>
      isObject(one) && typeof one.header === 'string' ? { ...one, value: mapOne(one.header, one.value) } : one,
    );
  if (!isObject(headers)) return headers;
  return Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, mapOne(header, value)]));
}

/** Options as a client has written them, taken apart. */
export interface SplitOptions {
  /** The options with the mask in place of each secret. */
  readonly shown: Options;
  /** New secrets by path. */
  readonly written: ReadonlyMap<string, unknown>;
  /** Paths with the mask: what is stored there stays. */
  readonly kept: readonly string[];
}

/** Takes the secrets out of options for one of these kinds of operations. */
export function splitSecretOptions(kinds: readonly SecretKind[], options: Options): SplitOptions {
  const written = new Map<string, unknown>();
  const kept: string[] = [];
  const shown = mapSecretOptions(kinds, options, (path, value) => {
    if (value === CONCEALED_VALUE_MASK) kept.push(path);
    else if (isKept(value)) written.set(path, value);
    else return value;
    return CONCEALED_VALUE_MASK;
  });
  return { shown, written, kept };
}

/** The kind of options that have secrets at these paths, whatever plugin declares it: that plugin may not be there at the moment. */
export function secretKindOf(paths: readonly string[]): SecretKind {
  const [header] = paths.flatMap((path) => (path.includes('/') ? [path.slice(0, path.indexOf('/'))] : []));
  const secretOptions = paths.filter((path) => !path.includes('/'));
  return { secretOptions, ...(header === undefined ? {} : { secretHeaders: header }) };
}

/** The options with their secrets; the mask stays where there is none. */
export const restoreSecretOptions = (options: Options, secrets: ReadonlyMap<string, unknown>): Options =>
  mapSecretOptions([secretKindOf([...secrets.keys()])], options, (path, value) =>
    value === CONCEALED_VALUE_MASK && secrets.has(path) ? secrets.get(path) : value,
  );

/** Paths of secrets that have to be entered again: the mask stands there, and nothing that can be read is stored. */
export function missingSecretsOf(kind: SecretKind, options: Options): readonly string[] {
  const missing: string[] = [];
  if (kind.secretOptions || kind.secretHeaders)
    mapSecretOptions([kind], options, (path, value) => {
      if (value === CONCEALED_VALUE_MASK) missing.push(path);
      return value;
    });
  return missing;
}
