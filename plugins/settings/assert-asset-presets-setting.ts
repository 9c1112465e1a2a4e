import { fail } from '#kernel';

const FIELD = 'storage_asset_presets';
const KEY = /^[a-z0-9][a-z0-9_-]*$/i;

const invalid = (reason: string, ...path: (string | number)[]) =>
  fail('INVALID_PAYLOAD', reason, { path: [FIELD, ...path] });

/**
 * Validates `storage_asset_presets`: the shape of the list and its keys. The asset routes check the parameters of a preset when
 * it is used. @throws INVALID_PAYLOAD
 */
export function assertAssetPresets(value: unknown): void {
  if (value === undefined || value === null) return;
  if (!Array.isArray(value)) throw invalid(`"${FIELD}" must be a list`);
  const seen = new Set<string>();
  for (const [at, preset] of value.entries()) {
    if (typeof preset !== 'object' || preset === null || Array.isArray(preset))
      throw invalid(`preset ${at} must be an object`, at);
    const { key } = preset as { key?: unknown };
    if (typeof key !== 'string' || !KEY.test(key))
      throw invalid(`preset ${at} must have a key of letters, digits, "-" and "_"`, at, 'key');
    if (key.startsWith('system-')) throw invalid(`"${key}": keys that start with "system-" are reserved`, at, 'key');
    if (seen.has(key)) throw invalid(`two presets have the key "${key}"`, at, 'key');
    seen.add(key);
  }
}
